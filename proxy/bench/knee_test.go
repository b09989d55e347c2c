package bench

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"gateway/proxy/bench/load"
)

// exactArm has workers that take exactly so long for each request: what they do is reckoned, and only the waiting is slept.
// So its capacity is workers / service, however late a sleep is.
type exactArm struct {
	service time.Duration

	mu   sync.Mutex // guards free
	free []time.Time
}

func newExactArm(workers int, service time.Duration) *exactArm {
	return &exactArm{service: service, free: make([]time.Time, workers)}
}

func (e *exactArm) Send(ctx context.Context, _ *load.Request, a *load.Answer) error {
	a.Wrote = time.Now()
	timer := time.NewTimer(time.Until(e.take(a.Wrote)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	a.Status, a.Size, a.End = 200, 100, time.Now()
	return nil
}

// take gives the next request to the worker that is free first, and says when it will be done.
func (e *exactArm) take(now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := 0
	for i := range e.free {
		if e.free[i].Before(e.free[first]) {
			first = i
		}
	}
	begins := e.free[first]
	if begins.Before(now) {
		begins = now
	}
	e.free[first] = begins.Add(e.service)
	return e.free[first]
}

func TestKneeOfArmsWhoseCapacityIsKnown(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		const service = 3 * time.Millisecond
		exact := func(name string, workers int) Arm {
			return Arm{Name: name, ArmFacts: ArmFacts{Kind: "http", Workers: workers}, Load: newExactArm(workers, service)}
		}
		c := KneeConfig{Config: quick(exact("fpm", 2), exact("octane", 4)), Step: 4 * time.Second, SLO: 40 * time.Millisecond}
		r, err := FindKnee(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for arm, workers := range []float64{2, 4} {
			a, truth := r.Knee.Arms[arm], workers/service.Seconds()
			if a.Capacity == nil {
				t.Fatalf("arm %d: no capacity: %+v", arm, r.Verdict)
			}
			// By chance a step has more or fewer requests than its rate says, and a moment of overload passes unnoticed.
			if got := a.Capacity.Estimate; got < 0.85*truth || got > 1.05*truth || a.Capacity.Low > got || a.Capacity.High <= got {
				t.Errorf("arm %d: capacity %+v, want a little below %g", arm, a.Capacity, truth)
			}
			if a.Law > truth*1.01 || a.Law < truth/3 {
				t.Errorf("arm %d: by the law of the pool %g, want at most %g", arm, a.Law, truth)
			}
			if first := a.Steps[0]; first.Phase != ladder || !first.Passed || math.Abs(first.Offered/a.Ceiling-ladderFrom) > 1e-9 {
				t.Errorf("arm %d: first step %s at %g", arm, first.Phase, first.Offered)
			}
		}
		if r.Verdict.State != Valid || r.Verdict.Winner != 1 {
			t.Errorf("verdict %+v", r.Verdict)
		}
	})
}

func TestInterruptedKneeIsPartial(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		arm := Arm{Name: "fpm", Load: newExactArm(2, time.Millisecond)}
		c := KneeConfig{Config: quick(arm), Step: 300 * time.Millisecond}
		c.Tell = func(e Event) {
			if e.Phase == "knee" && e.Block != nil && e.Done == 2 {
				cancel()
			}
		}
		r, err := FindKnee(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Partial || r.Verdict.State != Inconclusive || len(r.Knee.Arms[0].Steps) != 2 || r.Knee.Arms[0].NoUSL == "" {
			t.Errorf("partial %v, verdict %+v, %d steps", r.Partial, r.Verdict, len(r.Knee.Arms[0].Steps))
		}
		if slo := r.Knee.SLO; slo < 5*time.Millisecond {
			t.Errorf("SLO = %s, want five times what the lowest rate took", slo)
		}
	})
}

func TestStepsThatDoNotPass(t *testing.T) {
	good := func() *load.Block {
		b := &load.Block{For: 10 * time.Second, Due: 1000, Offered: 100, Response: load.NewHistogram(), Service: load.NewHistogram()}
		b.Issued, b.Good = 1000, 1000
		b.Response.Record(10 * time.Millisecond)
		b.Service.Record(10 * time.Millisecond)
		for range 10 {
			b.Seconds = append(b.Seconds, load.Second{Started: 100, Good: 100})
		}
		return b
	}
	for _, c := range []struct {
		name, why string
		change    func(*load.Block)
	}{
		{"good", "", func(*load.Block) {}},
		{"behind", "95.0 % of 1000 requests were answered", func(b *load.Block) { b.Issued, b.Good = 950, 950 }},
		{"wrong", "5 of 1000 answers were wrong or none (status 5)", func(b *load.Block) {
			b.Good, b.Bad, b.Faults = 995, 5, map[string]int64{"status": 5}
		}},
		{"slow", "p95 100.", func(b *load.Block) {
			for range 10 {
				b.Response.Record(100 * time.Millisecond)
				b.Service.Record(100 * time.Millisecond)
			}
		}},
		{"late", generatorLate, func(b *load.Block) {
			for range 10 {
				b.Response.Record(100 * time.Millisecond)
			}
		}},
		{"piling up", "ever more were under way", func(b *load.Block) {
			for i := range b.Seconds {
				b.Seconds[i].Good = 97
			}
		}},
	} {
		b := good()
		c.change(b)
		if got := whyNot(b, 0, 50*time.Millisecond); !strings.HasPrefix(got, c.why) || c.why == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.why)
		}
	}
}

// searched tries rates against a capacity until the search is done.
func searched(s *search, passes func(try int, rate float64) bool) {
	for try := 0; !s.done; try++ {
		s.note(passes(try, s.rate))
	}
}

func TestSearchEndsJustBelowTheCapacity(t *testing.T) {
	for _, c := range []struct{ ceiling, capacity float64 }{{100, 95}, {100, 20.5}, {100, 350}, {1000, 70}, {7, 6}} {
		s := newSearch(c.ceiling)
		searched(s, func(_ int, rate float64) bool { return rate <= c.capacity })
		if !s.found() || s.low > c.capacity || s.high <= c.capacity || s.high/s.low > bisectTo+1e-9 || s.steps > 30 {
			t.Errorf("ceiling %g, capacity %g: %+v", c.ceiling, c.capacity, s)
		}
	}
}

func TestSearchForgivesOneFailure(t *testing.T) {
	for unlucky := range 10 {
		s := newSearch(100)
		searched(s, func(try int, rate float64) bool { return try != unlucky && rate <= 80 })
		if !s.found() || s.low < 80/(bisectTo*bisectTo) || s.low > 80 {
			t.Errorf("failure at try %d: %+v", unlucky, s)
		}
	}
}

func TestSearchGivesUp(t *testing.T) {
	never := newSearch(100)
	searched(never, func(int, float64) bool { return false })
	ever := newSearch(100)
	searched(ever, func(int, float64) bool { return true })
	if never.found() || never.low != 0 || ever.found() || ever.low < mostRate/2 {
		t.Errorf("never %+v, ever %+v", never, ever)
	}
}
