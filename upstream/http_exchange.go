package upstream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
)

// exchange is one request and its response on one connection. It is the body of that response as well.
type exchange struct {
	h       *HTTP
	r       *http.Request
	c       *conn
	trace   *httptrace.ClientTrace
	upgrade bool

	unbind   func() bool   // from the context; nil when that never ends
	sending  chan struct{} // closed once a large body has been sent; nil when all was sent at once
	unsent   error         // why it was not; read after sending is closed
	body     io.Reader     // below the limits of reading
	reusable bool          // the response leaves the connection open
	answered bool
	whole    bool // the body was read to its end
	finished atomic.Bool
}

var noTrace httptrace.ClientTrace // never changed

func newExchange(h *HTTP, r *http.Request) *exchange {
	x := &exchange{h: h, r: r, trace: httptrace.ContextClientTrace(r.Context()), upgrade: isUpgrade(r)}
	if x.trace == nil {
		x.trace = &noTrace
	}
	return x
}

// roundTrip sends and receives on the connection that x has.
func (x *exchange) roundTrip() (*http.Response, error) {
	x.send()
	resp, err := x.receive()
	if err != nil {
		x.finish(false)
		return nil, x.failed(x.why(err))
	}
	return resp, nil
}

// receive reads heads up to the one that counts.
func (x *exchange) receive() (*http.Response, error) {
	c := x.c
	c.head = x.h.cfg.MaxHeaderBytes // for all of them together, or hints could go on for ever
	for {
		// After a hint the application works on, so the wait for the next head is as long as for the first.
		c.pause = x.h.cfg.FirstByteTimeout
		if err := x.awaitByte(); err != nil {
			return nil, err
		}
		if !x.answered && x.trace.GotFirstResponseByte != nil {
			x.trace.GotFirstResponseByte()
		}
		x.answered = true
		c.pause = x.h.cfg.BetweenBytesTimeout
		resp, err := http.ReadResponse(c.r, x.r)
		if err != nil {
			return nil, cmp.Or(c.broken, err) // half a line is malformed too, but that is not the cause
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.head = -1
			return x.accept(resp)
		}
		if x.trace.Got1xxResponse != nil {
			if err := x.trace.Got1xxResponse(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
				return nil, err
			}
		}
	}
}

// awaitByte waits for a byte of the response. While a large body is still going out there is none to be
// expected, so only pauses after that count.
func (x *exchange) awaitByte() error {
	for {
		sent := x.isSent()
		_, err := x.c.r.Peek(1)
		if err == nil || sent || !isTimeout(err) {
			return err
		}
	}
}

// accept makes x the body of the response.
func (x *exchange) accept(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return x.switchProtocols(resp)
	}
	// After a refused upgrade nobody knows whether the backend takes what follows for a request.
	x.reusable = !resp.Close && !x.upgrade
	if resp.Body == http.NoBody {
		x.finish(true)
		return resp, nil
	}
	// Closing net/http's body would read on to its end. Ours closes the connection instead.
	x.body, resp.Body = resp.Body, x
	return resp, nil
}

// Read reads the body of the response.
func (x *exchange) Read(p []byte) (int, error) {
	if x.finished.Load() {
		return 0, x.afterEnd()
	}
	n, err := x.body.Read(p)
	switch {
	case err == nil:
	case err == io.EOF:
		x.whole = true
		x.finish(true)
	default:
		x.finish(false)
		err = x.failed(err)
	}
	return n, err
}

// Close ends the exchange. What is left of the response is not read, so its connection is not kept.
func (x *exchange) Close() error {
	x.finish(false)
	return nil
}

// finish lets go of the connection: to the idle when the response was whole and nothing else is under way on it.
func (x *exchange) finish(whole bool) {
	if !x.finished.CompareAndSwap(false, true) {
		return
	}
	// Once the context has ended, something is about to close the connection, even if all has arrived.
	free := x.unbind == nil || x.unbind()
	if whole && free && x.reusable && x.sentAll() && x.c.r.Buffered() == 0 {
		x.h.keep(x.c)
		return
	}
	x.c.closeNow()
}

// afterEnd is what reading on gives: the connection may be another request's by now.
func (x *exchange) afterEnd() error {
	if x.whole {
		return io.EOF
	}
	return http.ErrBodyReadAfterClose
}

// failed says what was being done, and that the client left where that is the cause.
func (x *exchange) failed(err error) error {
	e := &Error{Op: "send", Backend: x.h.cfg.Address, Err: err}
	var own *Error
	switch {
	case errors.As(err, &own):
		*e = *own
	case x.body != nil:
		e.Op = "read body"
	case x.answered:
		e.Op = "read head"
	default:
		e.safe = x.sending == nil && !x.c.wrote.Load()
	}
	if ctx := x.r.Context(); ctx.Err() != nil {
		e.Blame, e.Err = Client, context.Cause(ctx)
	} else if err == io.EOF {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}
