package load

import (
	"sync"
	"time"
)

// flying adds up how many requests are under way, over the measured time. It counts those as well that never end, which no
// service time tells of.
type flying struct {
	from, to time.Duration // what is measured

	mu   sync.Mutex // guards what follows
	n    int
	last time.Duration
	sum  float64 // request times nanoseconds
}

// change says that there are by more at a time since the start.
func (f *flying) change(at time.Duration, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.n += by
}

func (f *flying) advance(at time.Duration) {
	begin, end := max(f.last, f.from), min(at, f.to)
	if end > begin {
		f.sum += float64(f.n) * float64(end-begin)
	}
	f.last = max(f.last, at)
}

// mean is taken when the last request has been issued, at.
func (f *flying) mean(at time.Duration) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	measured := min(at, f.to) - f.from
	if measured <= 0 {
		return 0
	}
	return f.sum / float64(measured)
}

func (f *flying) now() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// overdue looks for requests that are past their deadline until it is told to stop.
func (e *engine) overdue() (stop func()) {
	return e.every(min(e.plan.Deadline/8, time.Second), func(now time.Time) { e.flights.overdue(now, e.plan.Deadline) })
}

const watchEvery = 200 * time.Millisecond

// watch tells how far the block is until it is told to stop, and then that it has.
func (e *engine) watch(tell func(Progress)) (stop func()) {
	if tell == nil {
		return func() {}
	}
	return e.every(watchEvery, func(now time.Time) {
		last, _ := e.record.line.last()
		tell(Progress{now.Sub(e.start), e.flying.now(), last})
	})
}

// every calls do again and again until stop is called.
func (e *engine) every(period time.Duration, do func(now time.Time)) (stop func()) {
	enough, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(max(period, time.Millisecond))
		defer ticks.Stop()
		for {
			select {
			case now := <-ticks.C:
				do(now)
			case <-enough:
				return
			}
		}
	}()
	return func() {
		close(enough)
		<-stopped
	}
}
