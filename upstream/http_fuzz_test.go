package upstream

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// scriptedConn is a connection that has all its answer already.
type scriptedConn struct {
	net.Conn
	answer bytes.Reader
}

func (c *scriptedConn) Read(p []byte) (int, error)       { return c.answer.Read(p) }
func (c *scriptedConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *scriptedConn) Close() error                     { return nil }
func (c *scriptedConn) CloseWrite() error                { return nil }
func (c *scriptedConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptedConn) SetWriteDeadline(time.Time) error { return nil }

func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nSum: 1\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x00",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK\r\n\r\n",
		"HTTP/9 999\r\n a: b\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "\x00", "",
	} {
		for _, method := range []string{"GET", "HEAD", "UPGRADE"} {
			f.Add(method, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, method string, answer []byte) {
		h := newHTTP(t, HTTPConfig{Address: "127.0.0.1:1", MaxHeaderBytes: 1024})
		r := newRequest("GET", "")
		switch method {
		case "HEAD":
			r.Method = "HEAD"
		case "UPGRADE":
			r = newUpgrade()
		}
		socket := &scriptedConn{}
		socket.answer.Reset(answer)
		x := newExchange(h, r)
		x.c = newConn(socket, &h.cfg)
		resp, err := x.roundTrip()
		var e *Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("error = %v (%T)", err, err)
			}
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("body error = %v (%T)", err, err)
		}
		if len(body) > len(answer) {
			t.Fatalf("%d bytes of body from %d", len(body), len(answer))
		}
		if h.idleCount() == 1 && x.c.r.Buffered() > 0 {
			t.Fatal("a connection was kept with bytes of the next response")
		}
		resp.Body.Close()
	})
}
