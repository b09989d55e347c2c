package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// request is a whole FastCGI request of one parameter.
func request(keep bool) []byte {
	flags := "\x00"
	if keep {
		flags = "\x01"
	}
	b := record(1, "\x00\x01"+flags+"\x00\x00\x00\x00\x00")
	b = append(b, record(4, "\x03\x01FOOx")...)
	b = append(b, record(4, "")...)
	return append(b, record(5, "")...)
}

// connect starts a trivial backend and returns a connection to it.
func connect(t *testing.T, d dialect) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- answerAll(l, d) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Errorf("answerAll: %v", err)
		}
	})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(10 * time.Second))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// exchange sends a request and reads one answer.
func exchange(t *testing.T, conn net.Conn, request, want []byte) {
	t.Helper()
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("answer = %q, %v; want %q", got, err, want)
	}
}

func TestRespondersKeepOrCloseAsTheyAreTold(t *testing.T) {
	get := func(line string) []byte { return []byte("GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n") }
	for _, c := range []struct {
		name       string
		d          dialect
		kept, last []byte
	}{
		{"FastCGI", fastCGI(), request(true), request(false)},
		{"HTTP", plainHTTP(), get(""), get("Connection: close\r\n")},
	} {
		conn := connect(t, c.d)
		exchange(t, conn, c.kept, c.d.answer)
		exchange(t, conn, c.kept, c.d.answer)
		exchange(t, conn, c.last, c.d.answer)
		if n, err := conn.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%s: read %d bytes, %v after the last answer; want the end", c.name, n, err)
		}
	}
}

func TestRespondersWaitForAWholeRequest(t *testing.T) {
	for name, c := range map[string]struct {
		d       dialect
		request []byte
	}{
		"FastCGI": {fastCGI(), request(true)},
		"HTTP":    {plainHTTP(), []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")},
	} {
		for n := range len(c.request) {
			if got, _, err := c.d.next(c.request[:n]); got != 0 || err != nil {
				t.Errorf("%s: %d of %d bytes: next = %d, %v; want 0", name, n, len(c.request), got, err)
			}
		}
		if got, keep, err := c.d.next(append(c.request, "more"...)); got != len(c.request) || !keep || err != nil {
			t.Errorf("%s: next = %d, %v, %v; want %d and to keep", name, got, keep, err, len(c.request))
		}
	}
}

func TestResponderHangsUpOnWhatIsNotFastCGI(t *testing.T) {
	conn := connect(t, fastCGI())
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v; want the end", n, err)
	}
}

func FuzzNextRequest(f *testing.F) {
	f.Add(request(true))
	f.Add(request(false)[:11])
	f.Add([]byte("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range []dialect{fastCGI(), plainHTTP()} {
			if n, _, err := d.next(b); n < 0 || n > len(b) || err != nil && n != 0 {
				t.Errorf("next = %d of %d bytes, %v", n, len(b), err)
			}
		}
	})
}
