package upstream

import (
	"bufio"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

const connBuffer = 4 << 10

// duplexConn is a socket of which each direction can be ended alone: TCP or unix.
type duplexConn interface {
	net.Conn
	CloseWrite() error
}

// conn is a connection to a backend with its buffers. One exchange uses it at a time.
type conn struct {
	socket duplexConn
	raw    syscall.RawConn // of socket; nil where it has none
	r      *bufio.Reader
	w      *bufio.Writer

	pause        time.Duration // longest wait of a read
	writeTimeout time.Duration // longest wait of a write
	head         int           // bytes that a response head may still have; below zero: there is no head to read
	wrote        atomic.Bool   // some of the current request went out
	broken       error         // of the last read
	idleSince    time.Time
}

func newConn(socket duplexConn, cfg *HTTPConfig) *conn {
	c := &conn{socket: socket, writeTimeout: cfg.WriteTimeout, head: -1}
	if s, ok := socket.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn() // nil after an error: there is nothing to look at then
	}
	// Small: most responses are read past the buffer, into the reader's own.
	c.r = bufio.NewReaderSize(reading{c}, connBuffer)
	c.w = bufio.NewWriterSize(writing{c}, connBuffer)
	return c
}

func (c *conn) closeNow() { c.socket.Close() }

// A deadline for each read and write, not one for all, is what makes the limits limits on silence: a download may
// take an hour as long as it goes on.

// reading is the side of a conn below its read buffer.
type reading struct{ c *conn }

func (r reading) Read(p []byte) (int, error) {
	n, err := r.c.read(p)
	r.c.broken = err
	return n, err
}

func (c *conn) read(p []byte) (int, error) {
	if c.head == 0 {
		return 0, ErrHeaderTooLarge
	}
	if err := c.socket.SetReadDeadline(time.Now().Add(c.pause)); err != nil {
		return 0, err
	}
	if c.head > 0 && len(p) > c.head {
		p = p[:c.head]
	}
	n, err := c.socket.Read(p)
	if c.head > 0 {
		c.head -= n
	}
	return n, err
}

// writing is the side of a conn below its write buffer.
type writing struct{ c *conn }

func (w writing) Write(p []byte) (int, error) {
	c := w.c
	if err := c.socket.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
		return 0, err
	}
	n, err := c.socket.Write(p)
	if n > 0 && !c.wrote.Load() {
		c.wrote.Store(true)
	}
	return n, err
}
