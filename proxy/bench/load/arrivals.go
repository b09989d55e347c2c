package load

import (
	"math/rand/v2"
	"time"
)

// schedule gives the times at which requests should be sent, from the start of the block on.
type schedule struct {
	gap  float64    // mean, in nanoseconds
	r    *rand.Rand // nil for constant gaps
	next float64
}

func newSchedule(p Plan) *schedule {
	s := &schedule{gap: float64(time.Second) / p.Rate}
	if p.Arrivals == Poisson {
		s.r = rand.New(rand.NewPCG(p.Seed, 0x61727269766564))
		s.next = s.gap * s.r.ExpFloat64()
	}
	return s
}

// dueBy is how many requests of p should have been sent between its Discard and at. A closed loop owes none.
func dueBy(p Plan, at time.Duration) (n int64) {
	if p.Rate == 0 {
		return 0
	}
	for s, next := newSchedule(p), time.Duration(0); ; {
		if next = s.at(); next >= at {
			return n
		}
		if next >= p.Discard {
			n++
		}
	}
}

// at returns the next of those times.
func (s *schedule) at() time.Duration {
	now := time.Duration(s.next)
	if s.r == nil {
		s.next += s.gap
	} else {
		s.next += s.gap * s.r.ExpFloat64()
	}
	return now
}
