package fastcgi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// body is a response's Body. Its Read takes the record headers off and waits for END_REQUEST before io.EOF.
type body struct {
	c    *call
	left int64 // what Content-Length still promises; -1 if it promises nothing
	none bool  // the answer has no body, whatever the script writes

	mu  sync.Mutex // guards what follows, and the call's stream
	err error      // of all further reads
}

// Read returns what has come, without waiting for more than one byte.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.read(p)
	if err != nil {
		b.fail(err)
	}
	return n, b.err
}

// Released is closed once the worker that wrote the body is free, or cannot be waited for any longer.
func (b *body) Released() <-chan struct{} { return b.c.Released() }

// Close gives up what is left of the body.
func (b *body) Close() error {
	b.c.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.fail(http.ErrBodyReadAfterClose)
	}
	return nil
}

// close wakes a Read that is waiting.
func (c *call) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.interrupt()
}

// fail ends the body. After END_REQUEST there is nothing left to end but the buffer.
func (b *body) fail(err error) {
	switch {
	case err == io.EOF:
		b.err = err
		b.c.stream.free()
	case errors.Is(err, http.ErrBodyReadAfterClose):
		b.err = err
		b.c.abandon()
		b.c.stream.free()
	default:
		b.err = b.c.fail(err)
	}
}

// read holds the script to its Content-Length: a body that is longer would be taken for the next answer by a client
// that believes the length, and one that is shorter for a whole one by a client that does not.
func (b *body) read(p []byte) (int, error) {
	if b.none {
		return 0, b.c.discard()
	}
	if b.left == 0 {
		if _, err := b.c.next(); err != nil {
			return 0, err
		}
		return 0, ErrBodyLength
	}
	if b.left > 0 {
		p = p[:min(int64(len(p)), b.left)]
	}
	n, err := b.c.readContent(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if err == io.EOF && b.left > 0 {
		err = ErrBodyLength
	}
	return n, err
}

// readContent fills p with what can be had of STDOUT after waiting once.
func (c *call) readContent(p []byte) (int, error) {
	s := &c.stream
	if s.typ == typeStdout && s.left >= bufferSize && len(p) >= bufferSize && s.r == s.w {
		return s.direct(p)
	}
	n := 0
	for n == 0 || n < len(p) && s.ready() {
		chunk, err := c.next()
		if err != nil {
			return n, err
		}
		m := copy(p[n:], chunk)
		s.take(m)
		n += m
	}
	if s.ended {
		// END_REQUEST is at hand, so whoever reads learns of the end along with the last bytes.
		if _, err := c.next(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// discard reads to the end.
func (c *call) discard() error {
	for {
		chunk, err := c.next()
		if err != nil {
			return err
		}
		c.stream.take(len(chunk))
	}
}

// next returns the STDOUT bytes at hand, one at least, and io.EOF after END_REQUEST. What STDERR says on the way
// goes to the Env.
func (c *call) next() ([]byte, error) {
	s := &c.stream
	for {
		for s.left == 0 {
			h, err := s.next()
			c.settle()
			if err != nil {
				return nil, err
			}
			if h.typ == typeEnd {
				return nil, c.readEnd()
			}
		}
		b, err := s.content()
		c.settle()
		if err != nil || s.typ == typeStdout {
			return b, err
		}
		c.env.addStderr(b)
		s.take(len(b))
	}
}

// settle ends the call as soon as END_REQUEST is in the buffer.
func (c *call) settle() {
	if c.stream.ended {
		c.finish()
	}
}

// readEnd reads END_REQUEST. Its application status is an exit code that FPM always sends as 0.
func (c *call) readEnd() error {
	s := &c.stream
	if err := s.need(endSize); err != nil {
		return err
	}
	status := s.buf[s.r+4]
	s.take(endSize)
	if !s.ended {
		s.ended, s.tail = true, true
	}
	c.settle()
	switch status {
	case statusComplete:
		return io.EOF
	case statusOverloaded, statusCantMpx:
		return ErrOverloaded
	}
	return fmt.Errorf("%w: protocol status %d", ErrRefused, status)
}
