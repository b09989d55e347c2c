package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// client is one of those that send. It has one request under way at a time.
type client struct {
	engine *engine
	flight *flight
	answer Answer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newClient(e *engine) *client {
	c := &client{engine: e, flight: e.flights.join()}
	c.renew()
	return c
}

// renew makes a context for requests to come. One is good for many, until it ends.
func (c *client) renew() {
	ctx, cancel := context.WithCancelCause(c.engine.base)
	c.ctx, c.cancel = ctx, cancel
	c.flight.endsBy(cancel)
}

func (c *client) close() { c.cancel(nil) }

// send sends j and counts what becomes of it. What is given up on at the end of the block is not counted: it hangs.
func (c *client) send(j job) {
	e := c.engine
	c.answer.reset()
	now := time.Now()
	o := outcome{route: j.request.Route, intended: j.intended, sent: now.Sub(e.start)}
	e.record.line.started(o.sent)
	c.flight.begin(now)
	e.flying.change(o.sent, 1)
	o.err = e.arm.Send(c.ctx, j.request, &c.answer)
	end := time.Now()
	e.flying.change(end.Sub(e.start), -1)
	if !c.flight.end() {
		return
	}
	c.settle(&o, j.request, end)
	e.record.ended(o)
}

func (c *client) settle(o *outcome, r *Request, end time.Time) {
	a := &c.answer
	if c.ctx.Err() != nil {
		if o.err != nil && errors.Is(context.Cause(c.ctx), errDeadline) {
			o.err = errDeadline
		}
		c.cancel(nil)
		c.renew()
	}
	if o.err == nil && !a.End.IsZero() {
		end = a.End
	}
	if o.connected = !a.Wrote.IsZero(); o.connected {
		o.wrote = a.Wrote.Sub(c.engine.start)
	}
	o.end, o.status, o.size = end.Sub(c.engine.start), a.Status, a.Size
	o.conn, o.reused = a.Conn, a.Reused
	if o.err == nil {
		o.fault = c.engine.judge.Judge(r, a)
	}
}

// flight is when a client's request began, if it has one under way.
type flight struct {
	mu        sync.Mutex // guards what follows
	since     time.Time
	abandoned bool
	cancel    context.CancelCauseFunc
}

func (f *flight) endsBy(cancel context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel = cancel
}

func (f *flight) begin(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = now
}

// end says whether the request ended before it was given up on.
func (f *flight) end() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = time.Time{}
	return !f.abandoned
}

// flights are those of all clients.
type flights struct {
	mu  sync.Mutex // guards all
	all []*flight
}

func (f *flights) join() *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := new(flight)
	f.all = append(f.all, one)
	return one
}

func (f *flights) each(do func(*flight)) {
	f.mu.Lock()
	all := slices.Clone(f.all)
	f.mu.Unlock()
	for _, one := range all {
		one.mu.Lock()
		do(one)
		one.mu.Unlock()
	}
}

// oldest is for how long the oldest request has been under way.
func (f *flights) oldest(now time.Time) (oldest time.Duration) {
	f.each(func(one *flight) {
		if !one.since.IsZero() {
			oldest = max(oldest, now.Sub(one.since))
		}
	})
	return oldest
}

// overdue ends what has been under way for longer than deadline. One look at all now and then costs less than a timer for
// each.
func (f *flights) overdue(now time.Time, deadline time.Duration) {
	f.each(func(one *flight) {
		if !one.since.IsZero() && now.Sub(one.since) > deadline {
			one.cancel(errDeadline)
		}
	})
}

// abandon gives up on what is under way.
func (f *flights) abandon() {
	f.each(func(one *flight) { one.abandoned = !one.since.IsZero() })
}
