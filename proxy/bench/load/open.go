package load

import (
	"context"
	"time"
)

// spinAbove is the rate from which on the last bit of a wait is spent looking at the clock: even an exact sleep is late by a
// tenth of a millisecond at times, which at such a rate is a good part of the way to the next request.
const (
	spinAbove = 2000.0
	spinFor   = 200 * time.Microsecond
)

// open sends requests when they are due, each by a client that is free, or by a new one. Those that could not be sent in
// their time are sent late, as long as there is time for answers.
func (e *engine) open(ctx context.Context) {
	ctx, done := context.WithDeadline(ctx, e.start.Add(e.plan.For+e.plan.Drain))
	defer done()
	jobs := make(chan job)
	defer close(jobs)
	due := newSchedule(e.plan)
	clients := 0
	for {
		at := due.at()
		if at >= e.plan.For || !e.waitFor(ctx, at) {
			return
		}
		j := job{e.source.Next(), at}
		e.record.issued(at, j.request.Route)
		select {
		case jobs <- j:
			continue
		default:
		}
		if clients < e.plan.InFlight {
			clients++
			e.clients.Go(func() { e.client(jobs, j) })
			continue
		}
		// All are busy. It is sent when one is free, and its time counts from now all the same.
		select {
		case jobs <- j:
		case <-ctx.Done():
			return // it was due and could not be sent: it hangs as those do that are in its way
		}
	}
}

// waitFor returns when at has come, or false when ctx has ended before.
func (e *engine) waitFor(ctx context.Context, at time.Duration) bool {
	for {
		left := at - time.Since(e.start)
		spin := e.plan.Rate > spinAbove && left < spinFor
		switch {
		case ctx.Err() != nil:
			return false
		case left <= 0:
			return true
		case spin:
			continue
		}
		if left > exactFor {
			select {
			case <-time.After(left - exactFor/2):
			case <-ctx.Done():
				return false
			}
			continue
		}
		if e.plan.Rate > spinAbove {
			left -= spinFor
		}
		e.plan.Sleep(left)
	}
}

// exactFor is how much of a wait is slept exactly. A timer of the runtime waits in whole milliseconds when nothing else goes
// on, and so is late by up to one, which is what a generator counts as late.
const exactFor = 10 * time.Millisecond

// client sends first and then what comes from jobs.
func (e *engine) client(jobs <-chan job, first job) {
	c := newClient(e)
	defer c.close()
	c.send(first)
	for j := range jobs {
		c.send(j)
	}
}

// closed has a number of clients send as fast as they get answers.
func (e *engine) closed(ctx context.Context) {
	ctx, done := context.WithDeadline(ctx, e.start.Add(e.plan.For))
	defer done()
	next := make(chan struct{}, 1) // holds the right to use the source
	next <- struct{}{}
	for range e.plan.Closed {
		e.clients.Go(func() {
			c := newClient(e)
			defer c.close()
			for ctx.Err() == nil {
				<-next
				r := e.source.Next()
				next <- struct{}{}
				at := time.Since(e.start)
				e.record.issued(at, r.Route)
				c.send(job{r, at})
			}
		})
	}
	<-ctx.Done()
}
