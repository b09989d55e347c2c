package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// tunnel joins a client's connection and a backend's after a protocol upgrade, until either ends or both
// have been silent for idle.
type tunnel struct {
	client  io.ReadWriteCloser
	stream  bool   // the client's side is a stream of HTTP/2 or HTTP/3
	early   []byte // what the client had sent before the connection was taken over
	backend io.ReadWriteCloser
	idle    time.Duration // zero means no limit
	last    atomic.Int64  // when bytes last passed, in Unix nanoseconds
	in, out int64         // bytes from the client, and to it; read after run
}

// openTunnel takes the client's connection over and answers 101 on it.
func openTunnel(w http.ResponseWriter, resp *http.Response, backend io.ReadWriteCloser, idle time.Duration) (*tunnel, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	t := &tunnel{client: conn, backend: backend, idle: idle}
	// The deadlines of the request do not hold for the tunnel.
	_ = conn.SetDeadline(time.Time{})
	if n := buffered.Reader.Buffered(); n > 0 {
		peeked, _ := buffered.Reader.Peek(n)
		t.early = bytes.Clone(peeked)
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	// A bytes.Buffer takes all that it is given.
	_ = resp.Header.Write(&head)
	head.WriteString("\r\n")
	if _, err := conn.Write(head.Bytes()); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// run carries bytes both ways and returns when both ways have ended and both connections are closed.
func (t *tunnel) run() {
	t.last.Store(time.Now().UnixNano())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.in = t.fromClient()
	}()
	t.out = t.carry(t.client, t.backend)
	// A backend that has ended says nothing more, but may still read until the client ends as well.
	closeWrite(t.client)
	<-done
	t.close()
}

// close ends both ways; run then returns.
func (t *tunnel) close() {
	t.client.Close()
	t.backend.Close()
}

func (t *tunnel) fromClient() int64 {
	early, err := t.backend.Write(t.early)
	t.early = nil
	if err != nil {
		t.close()
		return int64(early)
	}
	n := t.carry(t.backend, t.client)
	closeWrite(t.backend)
	return int64(early) + n
}

// carry copies until src ends. A fault ends the tunnel; a clean end only this direction.
func (t *tunnel) carry(dst io.Writer, src io.Reader) (total int64) {
	var buffer tunnelBuffer
	defer buffer.free()
	for {
		t.extend(src)
		p := buffer.bytes()
		n, err := src.Read(p)
		if n > 0 {
			t.last.Store(time.Now().UnixNano())
			total += int64(n)
			if _, err := dst.Write(p[:n]); err != nil {
				t.close()
				return total
			}
		}
		buffer.resize(n)
		switch {
		case err == nil:
		case os.IsTimeout(err) && time.Since(time.Unix(0, t.last.Load())) < t.idle:
			// Silent in this direction only.
		case err == io.EOF:
			return total
		default:
			t.close()
			return total
		}
	}
}

// extend gives src the whole idle time again. Connections that have no deadlines wait for the other side's.
func (t *tunnel) extend(src io.Reader) {
	if c, ok := src.(interface{ SetReadDeadline(time.Time) error }); ok && t.idle > 0 {
		_ = c.SetReadDeadline(time.Now().Add(t.idle))
	}
}

// closeWrite tells the other end that no more comes, and keeps reading from it possible where it can.
func closeWrite(c any) {
	switch c := c.(type) {
	case interface{ CloseWrite() error }:
		_ = c.CloseWrite()
	case io.Closer:
		_ = c.Close()
	}
}
