package load

import (
	"errors"
	"fmt"
	"time"
)

// Arrivals is how the requests of an open loop are spread over time.
type Arrivals int

// Poisson arrivals come as those of many independent clients do; Constant ones keep the same distance.
const (
	Poisson Arrivals = iota
	Constant
)

func (a Arrivals) String() string {
	if a == Constant {
		return "constant"
	}
	return "poisson"
}

// Plan is one block of load. Either Rate or Closed is set.
type Plan struct {
	// Rate is how many requests a second are sent, in an open loop: whether or not the answers to those before have come.
	Rate     float64
	Arrivals Arrivals
	// Seed draws the arrivals.
	Seed uint64
	// Closed is the number of clients of a closed loop, each of which waits for its answer before it asks again. It shows
	// what an arm can take; its latencies are those of a full arm.
	Closed int
	// For is how long requests are issued, Discard how much of that, at the start, is reported apart.
	For, Discard time.Duration
	// Deadline is when an answer is no longer waited for. Zero means 30 s.
	Deadline time.Duration
	// Drain is how long answers are waited for after the last request. Zero means 5 s.
	Drain time.Duration
	// InFlight is how many requests may be under way in an open loop. One that finds as many is sent when it may be, late,
	// and its response time is counted from when it should have been. Zero means 256, or two seconds of Rate where that
	// is more.
	InFlight int
	// Routes is how many routes the requests have, at least 1.
	Routes int
	// Sleep waits for the time of the next request in an open loop, CPU says what the generator has used so far. Nil means
	// a sleep in the kernel, and the CPU time of this process. Whoever runs on a clock that is not the machine's sets both.
	Sleep func(time.Duration)
	CPU   func() time.Duration
}

var errPlan = errors.New("not a block of load")

func (p Plan) withDefaults() (Plan, error) {
	switch {
	case (p.Rate > 0) == (p.Closed > 0):
		return p, fmt.Errorf("%w: want a rate or a number of clients", errPlan)
	case p.Rate > 1e7 || p.Rate < 0 || p.Closed < 0 || p.Closed > 1e5:
		return p, fmt.Errorf("%w: rate %g, %d clients", errPlan, p.Rate, p.Closed)
	case p.For <= 0 || p.Discard < 0 || p.Discard >= p.For:
		return p, fmt.Errorf("%w: %s with %s of them discarded", errPlan, p.For, p.Discard)
	case p.Routes < 1:
		return p, fmt.Errorf("%w: no routes", errPlan)
	}
	if p.Deadline == 0 {
		p.Deadline = 30 * time.Second
	}
	if p.Drain == 0 {
		p.Drain = 5 * time.Second
	}
	if p.InFlight == 0 {
		p.InFlight = max(256, int(2*p.Rate))
	}
	if p.Closed > 0 {
		p.InFlight = p.Closed
	}
	if p.Sleep == nil {
		p.Sleep = sleepExactly
	}
	if p.CPU == nil {
		p.CPU = processCPU
	}
	return p, nil
}
