package upstream

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// verdict is what may follow a failed attempt.
type verdict uint8

const (
	giveUp    verdict = iota
	elsewhere         // nothing was sent: another backend, or the same a little later
	fresh             // the kept connection had ended: the same backend, on a new one
	again             // sent once more, rather to another backend
)

// judge is the whole table of what is repeated. A request of which something may have reached the application
// is repeated at most once, and only when the application will not mind. One that was answered with a single
// byte never is, nor one that took too long: the application is at it still.
func (c *call) judge(ctx context.Context, p *probe, err error) verdict {
	switch {
	case ctx.Err() != nil, c.single:
		return giveUp
	case isSafe(err):
		return elsewhere
	case !p.connected(), p.answered(), c.upgrade, c.resent, isTimeout(err):
		return giveUp
	case p.reused.Load() && isRepeatable(c.in):
		return fresh
	case !p.reused.Load() && (c.in.Method == http.MethodGet || c.in.Method == http.MethodHead):
		return again
	}
	return giveUp
}

// isRepeatable reports whether r may be sent twice because its method, or whoever made it, says so. PUT and
// DELETE are idempotent on paper only: applications send mail from them.
func isRepeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != ""
}

func isSafe(err error) bool {
	var e interface{ SafeToRetry() bool }
	return errors.As(err, &e) && e.SafeToRetry()
}

func isBusy(err error) bool {
	var e interface{ Busy() bool }
	return errors.As(err, &e) && e.Busy()
}

func isTimeout(err error) bool {
	var e interface{ Timeout() bool }
	return errors.As(err, &e) && e.Timeout()
}

// harmful reports whether a failed attempt speaks against the backend. A full backlog does not, a kept
// connection that it had closed does not, and a client that left does not.
func harmful(ctx context.Context, p *probe, err error) bool {
	var own *Error
	switch {
	case ctx.Err() != nil, isBusy(err), errors.As(err, &own) && own.Blame != Backend:
		return false
	case isSafe(err):
		return !p.reused.Load()
	}
	return p.connected() && (!p.reused.Load() || p.answered() || isTimeout(err))
}

// next takes the slot for the attempt that follows a failed one at b, or gives b's back and returns the error
// that ends the request.
func (c *call) next(ctx context.Context, b *backend, p *probe, failure error) (*backend, error) {
	wrapped := c.g.failed(ctx, b, failure)
	if harmful(ctx, p, failure) {
		c.g.fail(b, wrapped)
	}
	verdict := c.judge(ctx, p, failure)
	if !wrapped.safe && !p.connected() && wrapped.Blame == Backend {
		wrapped.Blame = Gateway // it was refused before anything was dialled
	}
	if verdict == giveUp {
		c.g.releaseAfter(b, failure)
		return nil, wrapped
	}
	c.failure = wrapped
	if verdict == elsewhere {
		c.noteRefusal(wrapped, p)
		return c.elsewhere(ctx, b, failure, wrapped)
	}
	c.resent = true
	// The first attempt may have taken longer than anyone is to wait; the second has a right to a slot as well.
	c.waiter.deadline, c.waiter.extended = time.Now().Add(c.g.cfg.QueueWait), true
	if verdict == fresh {
		// Its neighbours in the pool are as old, and most likely ended with it.
		b.closeIdle()
		if releasedBy(failure) == nil {
			return b, c.letEnd(ctx, b)
		}
	} else {
		// It is the last attempt, and a backend that is stopping breaks off one connection after the other.
		c.waiter.avoid, c.waiter.insists = append(c.waiter.avoid, b), true
	}
	other, err := c.trade(ctx, b, failure)
	if other == b {
		err = c.letEnd(ctx, b)
	}
	return other, err
}

// dying is how long a server of several processes may go on to accept connections, and to break them off, while it
// is killed: until the last of its processes is gone. A tenth of a second was seen on a busy machine.
const dying = 200 * time.Millisecond

// letEnd waits until b, which has broken a connection off, is either well or gone, so that the last attempt is not
// lost on it. The slot is given back when the request ends meanwhile.
func (c *call) letEnd(ctx context.Context, b *backend) error {
	err := c.sleep(ctx, dying)
	if err != nil {
		c.g.release(b)
	}
	return err
}

// trade exchanges the slot of b, as soon as b has let go of the failed attempt.
func (c *call) trade(ctx context.Context, b *backend, failure error) (*backend, error) {
	if releasedBy(failure) != nil {
		c.g.releaseAfter(b, failure)
		b = nil
	}
	return c.g.exchange(ctx, b, &c.waiter)
}

// failed says where, and through whose fault, an attempt failed.
func (g *Group) failed(ctx context.Context, b *backend, err error) *Error {
	if ctx.Err() != nil {
		e := g.gone(ctx, "send")
		e.Backend = b.Addr
		return e
	}
	e := &Error{Op: "send", Err: err, safe: isSafe(err)}
	if own, ok := err.(*Error); ok {
		*e = *own
	}
	e.Group, e.Backend = g.cfg.Name, b.Addr
	if e.safe {
		e.hint = hint(b.Addr, err)
	}
	return e
}
