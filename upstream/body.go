package upstream

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// answer is the body of an ordinary response. It holds the slot until it has been read to the end or closed.
type answer struct {
	call  *call
	b     *backend
	body  io.ReadCloser
	broke bool // its failure has been counted
	ended atomic.Bool
}

// hold returns what takes the place of the response's body.
func (c *call) hold(b *backend, resp *http.Response) io.ReadCloser {
	c.answer.call, c.answer.b, c.answer.body = c, b, resp.Body
	if resp.StatusCode == http.StatusSwitchingProtocols {
		if stream, ok := resp.Body.(io.ReadWriteCloser); ok {
			c.end()
			return newTunnel(c.g, b, stream)
		}
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		c.answer.end()
		return http.NoBody
	}
	return &c.answer
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	switch {
	case err == nil:
	case err == io.EOF:
		a.end()
	default:
		err = a.broken(err)
	}
	return n, err
}

// broken is the error of a response that did not come to its end. The slot stays taken until Close: only then
// does the transport begin to let go.
func (a *answer) broken(err error) error {
	ctx := a.call.in.Context()
	e := a.call.g.failed(ctx, a.b, err)
	e.Op = "read body"
	if ctx.Err() == nil && !a.broke && !a.ended.Load() {
		a.broke = true
		a.call.g.fail(a.b, e)
	}
	return e
}

func (a *answer) Close() error {
	err := a.body.Close()
	a.end()
	return err
}

func (a *answer) end() {
	if a.ended.CompareAndSwap(false, true) {
		a.call.end()
		a.call.g.releaseAfter(a.b, a.body)
	}
}

// tunnel is the body of a 101: what the backend says, and where to write what the client says. It refers to
// nothing of the request, since tunnels live long and there are many.
type tunnel struct {
	io.ReadWriteCloser
	g      *Group
	b      *backend
	closed atomic.Bool
}

// socketTunnel is a tunnel over a socket, of which each direction can be ended and timed alone.
type socketTunnel struct {
	tunnel
	socket
}

type socket interface {
	CloseWrite() error
	SetReadDeadline(time.Time) error
}

func newTunnel(g *Group, b *backend, stream io.ReadWriteCloser) io.ReadWriteCloser {
	if s, ok := stream.(socket); ok {
		return &socketTunnel{tunnel: tunnel{ReadWriteCloser: stream, g: g, b: b}, socket: s}
	}
	return &tunnel{ReadWriteCloser: stream, g: g, b: b}
}

// Close ends both directions and frees the slot. Only Close does: a tunnel of which one direction has ended
// still occupies the backend.
func (t *tunnel) Close() error {
	err := t.ReadWriteCloser.Close()
	if t.closed.CompareAndSwap(false, true) {
		t.g.releaseAfter(t.b, t.ReadWriteCloser)
	}
	return err
}
