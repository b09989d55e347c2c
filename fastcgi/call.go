package fastcgi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/yookoala/gofast"
)

// call is one request and its answer on one connection. It is the gofast.Client that the session is given.
type call struct {
	t        *Transport
	req      *http.Request
	ctx      context.Context // that of req; its end interrupts the call until the body is over
	env      *Env
	params   *params                // until Do has sent them
	trace    *httptrace.ClientTrace // nil if nobody looks
	conn     *conn
	stream   stream
	response http.Response
	body     body
	stop     func() bool   // ends the watch over ctx
	sent     chan struct{} // closed when the goroutine that sends the body has ended; nil if there is none
	done     bool          // Do was called

	mu       sync.Mutex // guards what follows
	over     bool       // the answer is no longer read: it is complete, or given up
	closed   bool       // the reader has closed the body
	started  bool       // all params were sent, so a script may be running
	sending  bool       // the body is being sent
	stopped  bool       // the body need not be sent any further
	whole    bool       // all of the request was sent
	sendErr  error      // why the body could not be sent; no answer is worth waiting for then
	heard    bool       // a byte has come
	free     bool       // the worker is not ours any more
	released chan struct{}
}

// Do runs the exchange with the params of req. It implements gofast.Client; the answer stays with the call.
func (c *call) Do(req *gofast.Request) (*gofast.ResponsePipe, error) {
	if c.done {
		return nil, errors.New("gofast middleware called Do twice")
	}
	c.done = true
	m, err := newMessage(c.params.final(req, c.t.session.mapped, c.env.Params), c.req, c.t.idle.max > 0)
	if err != nil {
		closeBody(c.req)
		return nil, c.error(opOf(err), err)
	}
	return nil, c.exchange(m)
}

// Close has nothing to do: connections are the Transport's.
func (c *call) Close() error { return nil }

// exchange returns with the header read. From then on whoever reads the body drives the call.
func (c *call) exchange(m *message) error {
	if err := c.connect(); err != nil {
		m.free()
		closeBody(c.req)
		return err
	}
	c.stream.reset(c)
	c.watch()
	if err := c.send(m); err != nil {
		return err
	}
	if err := c.readHeader(); err != nil {
		e := c.fail(err)
		e.safe = errors.Is(err, ErrOverloaded) || errors.Is(err, ErrRefused)
		return e
	}
	return nil
}

// connect gets a connection and tells the trace. Until one is there, nothing can have reached a script.
func (c *call) connect() error {
	if c.trace != nil && c.trace.GetConn != nil {
		c.trace.GetConn(c.t.cfg.Address)
	}
	conn, err := c.t.connect(c.ctx, c.trace)
	if err != nil {
		e := c.error("dial", err)
		e.safe = true
		return e
	}
	c.conn = conn
	if c.trace != nil && c.trace.GotConn != nil {
		info := httptrace.GotConnInfo{Conn: conn.Conn, Reused: conn.reused, WasIdle: conn.reused}
		if conn.reused {
			info.IdleTime = time.Since(conn.since)
		}
		c.trace.GotConn(info)
	}
	return nil
}

// watch interrupts the call when its context ends.
func (c *call) watch() {
	if c.ctx.Done() != nil {
		c.stop = context.AfterFunc(c.ctx, c.interrupt)
	}
}

// interrupt wakes whoever waits for the connection; arm and armWrite then say why. A body that is being sent is
// sent to its end, since FPM would run the script with the half that it has.
func (c *call) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.conn.interruptRead()
	if !c.started {
		c.conn.interruptWrite()
	}
}

// Read reads from the connection, under the deadline that applies now.
func (c *call) Read(p []byte) (int, error) {
	if err := c.arm(); err != nil {
		return 0, err
	}
	n, err := c.conn.Read(p)
	if n > 0 {
		c.heardFrom()
		return n, nil
	}
	return 0, c.readError(err)
}

// heardFrom notes a byte of any kind: STDERR too shows that a worker is at work.
func (c *call) heardFrom() {
	c.mu.Lock()
	first := !c.heard
	c.heard = true
	c.mu.Unlock()
	if first && c.trace != nil && c.trace.GotFirstResponseByte != nil {
		c.trace.GotFirstResponseByte()
	}
}

// arm sets the deadline of the next read, under the lock so that it does not undo an interruption.
func (c *call) arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.broken(); err != nil {
		return err
	}
	return c.conn.readWithin(c.readTimeout())
}

// readTimeout is none while the body is being sent: each piece of that has a deadline of its own.
func (c *call) readTimeout() time.Duration {
	switch {
	case c.sending:
		return 0
	case c.heard && !c.over:
		return c.t.cfg.BetweenBytesTimeout
	}
	return c.t.cfg.FirstByteTimeout
}

// broken says why nothing more is to be read, if so. The caller holds mu.
func (c *call) broken() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.closed {
		return http.ErrBodyReadAfterClose
	}
	return c.sendErr
}

// readError puts the reason in place of the deadline that interrupted a read.
func (c *call) readError(err error) error {
	if !isTimeout(err) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.broken(); err != nil {
		return err
	}
	if c.heard {
		return &timeoutError{"nothing more for " + c.t.cfg.BetweenBytesTimeout.String()}
	}
	return &timeoutError{"no answer for " + c.t.cfg.FirstByteTimeout.String()}
}

// error is an *Error about this call.
func (c *call) error(op string, err error) *Error {
	e := &Error{Op: op, Addr: c.t.cfg.Address, Err: err}
	e.reused = c.conn != nil && c.conn.reused
	return e
}

// fail ends the call for the reason err and returns it as an *Error. After a timeout, too, the worker is waited for:
// it is the one that is known to be stuck.
func (c *call) fail(err error) *Error {
	e := c.error(opOf(err), err)
	if isDead(err) {
		c.drop()
	} else {
		c.abandon()
	}
	c.stream.free()
	e.released = c.Released()
	return e
}

// isDead reports whether nothing is to be expected of the connection: it has ended, says what cannot be understood,
// or waits for a body that will not come.
func isDead(err error) bool {
	return errors.Is(err, ErrTruncated) || errors.Is(err, ErrProtocol) || errors.Is(err, ErrRequestBody)
}

func opOf(err error) string {
	switch {
	case errors.Is(err, ErrParamsTooLarge):
		return "params"
	case errors.Is(err, ErrRequestBody):
		return "body"
	}
	return "read"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}
