package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"syscall"
	"time"
)

// A backend that restarts is away for a tenth of a second or so: the first pauses are short enough not to be
// noticed, the last long enough for a second dial to be worth something.
const (
	firstBackoff = 5 * time.Millisecond
	lastBackoff  = 250 * time.Millisecond
)

// rounds is what a request remembers while it goes round backends that cannot be dialled.
type rounds struct {
	begun   time.Time
	backoff time.Duration
	hope    time.Duration // how long it is worth to repeat dials that failed as those of this round did
	met     bool          // in this round some backend was there, though it did not take the request
}

func (c *call) noteRefusal(failure *Error, p *probe) {
	if c.rounds == nil {
		c.rounds = &rounds{begun: time.Now()}
	}
	r := c.rounds
	r.met = r.met || p.connected() || failure.Busy()
	r.hope = max(r.hope, min(patience(failure), c.g.cfg.QueueWait))
}

// How long dials are repeated that fail as they would for ever, or for a moment while a backend starts.
const (
	// PHP-FPM takes its socket away as it stops and binds it anew once PHP has started, with all extensions and
	// preloaded classes: half a second to nearly a whole one, measured on a busy machine and without preloading. So
	// do others, and systemd takes a RuntimeDirectory away as well. For containers it is their name that goes.
	missingPatience = 3 * time.Second
	// The new socket is root's for some microseconds until PHP-FPM gives it to its owner.
	hopelessPatience = 4 * firstBackoff
)

// hopeless is what no waiting mends: rights, and addresses that are none.
var hopeless = []error{
	fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.ENOTSOCK,
	syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT, syscall.EPROTOTYPE,
}

// patience returns how long it is worth to repeat a dial that failed with err. A refused one is worth any wait:
// someone may be about to listen.
func patience(err error) time.Duration {
	var name *net.DNSError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &name) && name.IsNotFound:
		return missingPatience
	case slices.ContainsFunc(hopeless, func(kind error) bool { return errors.Is(err, kind) }):
		return hopelessPatience
	}
	return time.Hour
}

// elsewhere goes round the backends, those that are kept out last. When each has had its try, it waits before the
// next round, with the slot in hand: what waits behind it in the queue would only run into the same wall.
func (c *call) elsewhere(ctx context.Context, b *backend, cause error, failure *Error) (*backend, error) {
	c.waiter.avoid, c.waiter.strays = append(c.waiter.avoid, b), true
	b, err := c.trade(ctx, b, cause)
	if err != nil || !slices.Contains(c.waiter.avoid, b) {
		return b, err
	}
	if err := c.endRound(ctx, failure); err != nil {
		c.g.release(b)
		return nil, err
	}
	return b, nil
}

// endRound returns when the next round may begin, or with the error that ends the request.
func (c *call) endRound(ctx context.Context, failure *Error) error {
	if c.waiter.leaves && !c.rounds.met && c.triedAll() {
		return failure.unreachable()
	}
	r := c.rounds
	r.backoff = min(max(2*r.backoff, firstBackoff), lastBackoff)
	err := c.pause(ctx, failure)
	c.waiter.avoid = c.waiter.avoid[:0]
	r.hope, r.met = 0, false
	return err
}

func (c *call) triedAll() bool {
	return !slices.ContainsFunc(c.g.backends, func(b *backend) bool { return !slices.Contains(c.waiter.avoid, b) })
}

// pause waits for the time of the backoff, or returns the error that ends the request.
func (c *call) pause(ctx context.Context, failure *Error) error {
	next := time.Now().Add(c.rounds.backoff)
	if next.After(c.waiter.deadline) || next.After(c.rounds.begun.Add(c.rounds.hope)) || !c.g.mayPause() {
		return exhausted(failure, c.g.cfg.QueueWait)
	}
	defer c.g.resume()
	return c.sleep(ctx, c.rounds.backoff)
}

func (c *call) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return c.g.gone(ctx, "dial")
	}
}

// mayPause counts one more request that waits to dial again. With a cap there are only as many as slots; without
// one, it is this that keeps the clients of a dead backend from piling up.
func (g *Group) mayPause() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paused >= g.cfg.QueueLength {
		return false
	}
	g.paused++
	return true
}

func (g *Group) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paused--
}

// exhausted turns the last failure into the answer when there is no time for another round. Backends that were
// there but full are no fault: the client is asked to come again.
func exhausted(failure *Error, later time.Duration) *Error {
	if failure.Busy() {
		failure.Err = fmt.Errorf("%w: %w", ErrQueueTimeout, failure.Err)
		failure.Blame, failure.later = Gateway, later
	}
	return failure
}
