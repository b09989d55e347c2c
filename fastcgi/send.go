package fastcgi

import (
	"errors"
	"net/http/httptrace"
	"sync"
)

// stdinBuffer holds a record of the largest size and the empty one that ends the stream.
type stdinBuffer [headerSize + maxContent + headerSize]byte

var stdinBuffers = sync.Pool{New: func() any { return new(stdinBuffer) }}

// send writes the request, or what precedes a large body; that is then sent while the answer is read, since a
// script may answer before it has read all, and wait for us to take the answer.
func (c *call) send(m *message) error {
	whole := m.whole
	err := c.writeMessage(m)
	m.free()
	if err == nil && !whole {
		c.sent = make(chan struct{})
		go c.sendBody()
		return nil
	}
	closeBody(c.req)
	c.wroteRequest(err)
	return err
}

// writeMessage writes in one call, which for a small request is one packet and one wakeup of the worker.
func (c *call) writeMessage(m *message) error {
	err := c.armWrite()
	n := 0
	if err == nil {
		n, err = c.conn.Write(m.buf)
	}
	c.mu.Lock()
	c.started = n >= m.script
	c.sending = err == nil && !m.whole
	c.whole = err == nil && m.whole
	c.mu.Unlock()
	if err == nil {
		return nil
	}
	e := c.error("write", c.writeError(err))
	e.safe = n < m.script
	c.drop()
	c.stream.free()
	return e
}

// sendBody is the goroutine that sends a large body. finish and linger wait for it.
func (c *call) sendBody() {
	defer close(c.sent)
	err := c.copyBody()
	closeBody(c.req)
	c.bodySent(err)
	c.wroteRequest(err)
}

// copyBody sends as many bytes as were promised: PHP would wait for more for ever, and take what is left over for the
// next request of the connection.
func (c *call) copyBody() error {
	buf := stdinBuffers.Get().(*stdinBuffer)
	defer stdinBuffers.Put(buf)
	for left := c.req.ContentLength; left > 0; {
		n := int(min(left, maxContent))
		if err := readBody(c.req.Body, buf[headerSize:headerSize+n]); err != nil {
			return err
		}
		putHeader(buf[:], typeStdin, n)
		left -= int64(n)
		end := headerSize + n
		if left == 0 {
			putHeader(buf[end:], typeStdin, 0)
			end += headerSize
		}
		if err := c.write(buf[:end]); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) write(b []byte) error {
	if err := c.armWrite(); err != nil {
		return err
	}
	if _, err := c.conn.Write(b); err != nil {
		return c.writeError(err)
	}
	return nil
}

// errAnswered stops a body whose script has answered without wanting the rest.
var errAnswered = errors.New("answered before the body was read")

// armWrite sets the deadline of the next write. A context that has ended stops the params, but not a body.
func (c *call) armWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return errAnswered
	}
	if err := c.ctx.Err(); err != nil && !c.started {
		return err
	}
	return c.conn.writeWithin(c.t.cfg.WriteTimeout, c.readTimeout())
}

// bodySent lets the clock of the answer run, or wakes its reader when the body failed. A broken connection is left
// to the reader: there may be an answer, or a better reason, still to be read.
func (c *call) bodySent(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending = false
	c.whole = err == nil
	switch {
	case c.stopped:
	case errors.Is(err, ErrRequestBody) || isTimeout(err):
		c.sendErr = err
		c.conn.interruptRead()
	case c.over || c.broken() == nil:
		c.conn.readWithin(c.readTimeout())
	}
}

// writeError puts the reason in place of the deadline that interrupted a write.
func (c *call) writeError(err error) error {
	if !isTimeout(err) {
		return bare(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ctx.Err(); err != nil && !c.started {
		return err
	}
	return &timeoutError{"request not taken for " + c.t.cfg.WriteTimeout.String()}
}

func (c *call) wroteRequest(err error) {
	if c.trace != nil && c.trace.WroteRequest != nil {
		c.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}
