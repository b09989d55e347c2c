package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	// lastChance is for a request that has just arrived on an idle connection as the server ends.
	lastChance = 5 * time.Millisecond
	// firstChance is for the first request of a connection that has just been made as the server ends.
	firstChance = time.Second
	// lingerTime is how long a client may go on sending what nobody will read. Closed at once, its side would see a
	// reset, perhaps before it has read the answer.
	lingerTime = 2 * time.Second
	// refusalTime is how long it may take to send an answer that no handler writes.
	refusalTime = 5 * time.Second
)

// conn is one connection and the request that is being served on it.
type conn struct {
	server   *Server
	nc       net.Conn
	socket   *net.TCPConn    // that nc is or wraps; nil for others
	base     context.Context // of every request
	remote   string
	tls      *tls.ConnectionState // nil for cleartext
	in       input
	deadline deadline
	scan     scan
	watch    watch
	answer   response
	first    bool // no request has come yet

	mu      sync.Mutex // guards phase and hurried, and the deadline while phase is not phaseActive
	phase   phase
	hurried bool // the deadline is that of hurry
}

// phase is what a connection waits for.
type phase int

const (
	phaseActive phase = iota // nothing that the end of the server could shorten
	phaseNew                 // its first request
	phaseIdle                // another one
)

func newConn(s *Server, nc net.Conn) *conn {
	socket := socketOf(nc)
	c := &conn{
		server: s, nc: nc, socket: socket, remote: nc.RemoteAddr().String(), first: true,
		base:     context.WithValue(context.Background(), http.LocalAddrContextKey, nc.LocalAddr()),
		in:       input{nc: nc, waiter: newWaiter(socket)},
		deadline: deadline{nc: nc},
	}
	c.watch.conn, c.answer.conn = c, c
	if secure, ok := nc.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := secure.ConnectionState()
		c.tls = &state
	}
	return c
}

// socketOf returns the socket that nc is, or wraps without a change to its bytes, which it says by a method Socket.
func socketOf(nc net.Conn) *net.TCPConn {
	switch nc := nc.(type) {
	case *net.TCPConn:
		return nc
	case interface{ Socket() *net.TCPConn }:
		return nc.Socket()
	}
	return nil
}

// end is how a request left its connection.
type end int

const (
	kept      end = iota // for the next request
	closing              // everything has been said and read
	lingering            // everything has been said, and more has come or may come that is discarded
	broken               // nothing more can be said
	hijacked             // it is somebody else's
)

func (c *conn) serve() {
	how := broken
	defer func() {
		if how != hijacked {
			c.nc.Close()
			c.in.drop()
		}
	}()
	for how = kept; how == kept; {
		how = c.next()
	}
	if how == lingering {
		c.linger()
	}
}

// next serves one request.
func (c *conn) next() end {
	limits := c.server.limits().withDefaults()
	if c.await(&limits) != nil {
		return broken
	}
	c.wake(&limits)
	head, err := c.head(&limits)
	if err != nil {
		return c.refuse(err)
	}
	m, fault := parse(head, c.scan.ends)
	if fault != nil {
		return c.refuse(fault)
	}
	c.first = false
	return c.respond(m, &limits)
}

// await waits until the first bytes of a request are there.
func (c *conn) await(limits *Limits) error {
	if !c.in.empty() {
		return nil
	}
	wait, phase, chance := limits.IdleTimeout, phaseIdle, lastChance
	if c.first {
		wait, phase, chance = limits.HeaderTimeout, phaseNew, firstChance
	}
	c.rest(phase, wait, chance)
	err := c.in.await()
	if errors.Is(err, os.ErrDeadlineExceeded) && c.server.draining.Load() && phase == phaseIdle {
		c.rest(phase, wait, chance)
		err = c.in.await()
	}
	return err
}

// rest sets the time for the wait that begins. From here on hurry ends it.
func (c *conn) rest(phase phase, wait, chance time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = phase
	c.deadline.near(time.Now().Add(wait), wait)
	if c.server.draining.Load() {
		c.deadline.set(time.Now().Add(chance))
	}
}

// wake ends the wait, and takes back what hurry may have done at the same time: the request has begun.
func (c *conn) wake(limits *Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = phaseActive
	if c.hurried {
		c.hurried = false
		c.deadline.set(time.Now().Add(limits.HeaderTimeout))
	}
}

// hurry ends the wait for a request, as the server ends. It is called by the server's goroutine.
func (c *conn) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.phase {
	case phaseActive:
		return
	case phaseIdle:
		c.nc.SetReadDeadline(past)
	case phaseNew:
		c.nc.SetReadDeadline(time.Now().Add(firstChance))
	}
	c.hurried = true
}

// respond has the handler answer m.
func (c *conn) respond(m *message, limits *Limits) end {
	ctx, cancel := context.WithCancel(c.base)
	defer cancel()
	r := (&http.Request{
		Method: m.method, URL: m.url, Proto: m.proto, ProtoMajor: 1, ProtoMinor: m.minor, Header: m.header,
		Body: http.NoBody, ContentLength: m.length, Close: m.close, Host: m.host, RequestURI: m.target,
		RemoteAddr: c.remote, TLS: c.tls,
	}).WithContext(ctx)
	var b *body
	c.watch.begin(cancel)
	if m.length == 0 {
		c.watch.arm()
	} else {
		if m.length < 0 {
			r.TransferEncoding = []string{"chunked"}
		}
		b = c.newBody(m)
		r.Body = b
		c.deadline.set(time.Time{}) // the one of the wait; what holds for a body is the handler's choice
	}
	c.answer.begin(m, b, cancel)
	returned := c.handle(r)
	switch {
	case c.answer.hijacked:
		return hijacked
	case !returned:
		c.watch.stop()
		return broken
	}
	return c.finish(b, limits)
}

// handle says whether the handler returned and did not break the answer off.
func (c *conn) handle(r *http.Request) (returned bool) {
	defer func() {
		if returned {
			return
		}
		if fault := recover(); fault != http.ErrAbortHandler {
			panic(fault)
		}
		c.answer.abort()
	}()
	c.server.handler.ServeHTTP(&c.answer, r)
	return true
}

// finish sends what is left of the answer and finds out whether another request can follow.
func (c *conn) finish(b *body, limits *Limits) end {
	err := c.answer.finish()
	c.watch.stop()
	if err != nil {
		return broken
	}
	ended := true
	if b != nil {
		c.deadline.set(time.Now().Add(limits.UnreadTimeout)) // also for a goroutine that still reads
		ended = b.drain()
	}
	switch {
	case !ended:
		return lingering
	case !c.answer.close && !c.server.draining.Load():
		return kept
	case c.unread():
		return lingering
	}
	return closing
}

// unread says whether the client has sent something behind its last request.
func (c *conn) unread() bool {
	if !c.in.empty() {
		return true
	}
	below := c.nc
	if secure, ok := below.(interface{ NetConn() net.Conn }); ok {
		below = secure.NetConn()
	}
	socket := socketOf(below)
	return socket != nil && hasMore(socket)
}

// refuse answers a head that is at fault. A client that says nothing, or nothing more, gets no answer.
func (c *conn) refuse(err error) end {
	var fault *Error
	if !errors.As(err, &fault) {
		return broken
	}
	c.server.refused(c.nc, fault)
	c.nc.SetWriteDeadline(time.Now().Add(refusalTime))
	if _, err := c.nc.Write(refusal(fault)); err != nil {
		return broken
	}
	return lingering
}

// linger lets the client read the answer before the connection goes.
func (c *conn) linger() {
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.deadline.set(time.Now().Add(lingerTime))
	c.in.take(len(c.in.waiting()))
	for c.in.await() == nil {
		c.in.take(len(c.in.waiting()))
	}
}
