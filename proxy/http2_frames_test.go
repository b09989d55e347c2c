package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"gateway/conf"
)

// framesIn is what golang.org/x/net finds, up to the first frame that is cut off.
func framesIn(p []byte) (all []frameHead) {
	for in := bytes.NewReader(p); ; {
		head, err := http2.ReadFrameHeader(in)
		if err != nil {
			return all
		}
		all = append(all, frameHead{int(head.Length), byte(head.Type), byte(head.Flags)})
		if _, err := in.Seek(int64(head.Length), io.SeekCurrent); err != nil {
			return all
		}
	}
}

func FuzzFrameScanner(f *testing.F) {
	f.Add([]byte("\x00\x00\x03\x01\x04\x00\x00\x00\x01abc\x00\x00\x00\x04\x01\x00\x00\x00\x00"), 1)
	f.Add([]byte("\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678\x00\x00"), 5)
	f.Add([]byte("\xff\xff\xff\x00\x01\x00\x00\x00\x01x"), 100)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		var s frameScanner
		var found []frameHead
		for piece := range slices.Chunk(p, max(1, cut)) {
			if err := s.scan(piece, func(f frameHead) error { found = append(found, f); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if want := framesIn(p); !slices.Equal(found, want) {
			t.Errorf("frames = %v, want %v", found, want)
		}
	})
}

func TestScanEndsWithTheFirstFault(t *testing.T) {
	var s frameScanner
	n, fault := 0, errors.New("enough")
	err := s.scan(make([]byte, 9*10), func(frameHead) error {
		if n++; n == 3 {
			return fault
		}
		return nil
	})
	if err != fault || n != 3 {
		t.Errorf("%v after %d frames", err, n)
	}
}

func TestBucketFillsAgain(t *testing.T) {
	now := time.Unix(0, 0)
	b := bucket{level: 2, most: 2, rate: 10, at: now}
	for i, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, true}, {0, false}, {100 * time.Millisecond, true}, {50 * time.Millisecond, false}, {time.Hour, true}, {0, true}, {0, false}} {
		now = now.Add(c.after)
		if got := b.take(now); got != c.want {
			t.Errorf("take %d = %v, want %v", i, got, c.want)
		}
	}
}

// A client that has stopped reading altogether must not hold its connection, whose streams can no longer be reset.
func TestClientThatReadsNothingIsGivenUp(t *testing.T) {
	g := &Gateway{}
	s := g.http2Server(conf.Limits{HeaderTimeout: time.Minute, HeaderBytes: 64 << 10, StreamsPerConnection: 10}, &net.TCPAddr{})
	if s.server.HTTP2.WriteByteTimeout != writeTimeout {
		t.Errorf("time for a write = %v, want %v", s.server.HTTP2.WriteByteTimeout, writeTimeout)
	}
	s.server.HTTP2.WriteByteTimeout = 300 * time.Millisecond
	go s.serve()
	defer s.drain(t.Context())
	ours, theirs := net.Pipe() // holds nothing of what is not read
	defer theirs.Close()
	if !s.give(&http2Conn{Conn: ours}) {
		t.Fatal("not taken")
	}
	if _, err := io.WriteString(theirs, http2Preface); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		framer := http2.NewFramer(theirs, nil)
		for {
			if err := framer.WritePing(false, [8]byte{}); err != nil {
				ended <- err
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the connection is still there")
	}
}
