package load

import (
	"context"
	"errors"
	"sync"
	"time"
)

var errDeadline = errors.New("no answer by the deadline")

// Progress is what can be told while a block goes on.
type Progress struct {
	At       time.Duration // since the start
	InFlight int
	Last     Second // the last whole second
}

// engine is a block under way.
type engine struct {
	plan    Plan
	source  Source
	arm     Arm
	judge   Judge
	record  *record
	start   time.Time
	flying  flying
	flights flights
	clients sync.WaitGroup
	stop    context.CancelCauseFunc // of all requests
	base    context.Context
}

// job is a request and when it should be sent.
type job struct {
	request  *Request
	intended time.Duration
}

// Run issues the requests of source to arm as p says and returns what came of it. When ctx ends, it issues no more, waits for
// answers as it does at the end, and the block is partial. watch, which may be nil, is called a few times a second from one
// goroutine.
func Run(ctx context.Context, p Plan, source Source, arm Arm, judge Judge, watch func(Progress)) (*Block, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &engine{
		plan: p, source: source, arm: arm, judge: judge, record: newRecord(p), flying: flying{from: p.Discard, to: p.For},
	}
	e.base, e.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	defer e.stop(nil)
	use := beginUse(p.CPU)
	e.start = time.Now()
	defer e.watch(watch)()
	defer e.overdue()()
	if p.Closed > 0 {
		e.closed(ctx)
	} else {
		e.open(ctx)
	}
	issued := min(time.Since(e.start), p.For)
	oldest := e.flights.oldest(time.Now())
	mean := e.flying.mean(time.Since(e.start))
	e.drain()
	b := e.record.block()
	b.Start, b.For, b.Partial = e.start, issued, ctx.Err() != nil
	b.MeanInFlight, b.Oldest, b.Due = mean, oldest, dueBy(p, issued)
	b.GeneratorCPU, b.GCPause = use.end()
	return b, nil
}

// drain waits for what is under way, and gives up on what does not end. The clients' goroutines end with it, for an arm
// must come back when its context ends.
func (e *engine) drain() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.clients.Wait()
	}()
	timer := time.NewTimer(e.plan.Drain)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		e.flights.abandon()
		e.stop(errHung)
		<-ended
	}
}

var errHung = errors.New("no answer by the end of the block")
