package fastcgi

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"gateway/fastcgi/fcgitest"
)

func TestStreamSeesTheEndAhead(t *testing.T) {
	b := fcgitest.Record{Type: typeStdout, ID: 1, Content: []byte("unread"), Padding: 3}.Append(nil)
	b = fcgitest.Record{Type: typeEnd, ID: 1, Content: make([]byte, 8)}.Append(b)
	for _, c := range []struct {
		more        string
		ended, tail bool
	}{{"", true, false}, {"x", true, true}} {
		var s stream
		s.reset(bytes.NewReader(append(b[:len(b):len(b)], c.more...)))
		if _, err := s.next(); err != nil {
			t.Fatal(err)
		}
		if s.ended != c.ended || s.tail != c.tail {
			t.Errorf("with %q behind: ended %t, tail %t", c.more, s.ended, s.tail)
		}
	}
	var s stream
	s.reset(bytes.NewReader(b[:len(b)-1]))
	if s.next(); s.ended {
		t.Error("half an END_REQUEST counts as one")
	}
}

func TestStreamReportsAReaderThatGivesNothing(t *testing.T) {
	var s stream
	s.reset(iotest.ErrReader(nil))
	if _, err := s.next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error = %v, want ErrNoProgress", err)
	}
}

// FuzzStream compares what is read of arbitrary bytes in whole and in single bytes, where nothing is buffered ahead.
func FuzzStream(f *testing.F) {
	end := fcgitest.Record{Type: typeEnd, ID: 1, Content: make([]byte, 8)}.Append(nil)
	f.Add(fcgitest.Record{Type: typeStdout, ID: 1, Content: []byte("A: b\n\nbody"), Padding: 5}.Append(nil))
	f.Add(append(fcgitest.Record{Type: typeStderr, ID: 1, Content: []byte("oops\n")}.Append(nil), end...))
	f.Add(append(fcgitest.Record{Type: 11, Management: true, Padding: 255}.Append(nil), end...))
	f.Add([]byte{2, 6, 0, 1, 0, 0, 0, 0})
	f.Add([]byte{1, 3, 0, 1, 0, 2, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, wholeErr := readStream(bytes.NewReader(b))
		single, singleErr := readStream(iotest.OneByteReader(bytes.NewReader(b)))
		if !bytes.Equal(whole, single) || wholeErr.Error() != singleErr.Error() {
			t.Errorf("in whole %q, %v; in single bytes %q, %v", whole, wholeErr, single, singleErr)
		}
	})
}

// readStream returns the contents of all records up to END_REQUEST, each after its type.
func readStream(r io.Reader) ([]byte, error) {
	var s stream
	s.reset(r)
	defer s.free()
	var got []byte
	for {
		h, err := s.next()
		if err != nil {
			return got, err
		}
		if h.typ == typeEnd {
			if err := s.need(endSize); err != nil {
				return got, err
			}
			return got, io.EOF
		}
		got = append(got, h.typ)
		for s.left > 0 {
			chunk, err := s.content()
			if err != nil {
				return got, err
			}
			got = append(got, chunk...)
			s.take(len(chunk))
		}
	}
}
