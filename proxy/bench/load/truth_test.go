package load

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// numbered gives requests whose targets are their numbers.
type numbered struct{ n int }

func (s *numbered) Next() *Request {
	s.n++
	return &Request{Method: "GET", Target: "/" + strconv.Itoa(s.n-1), Host: "x", User: -1}
}

func numberOf(r *Request) int {
	n, err := strconv.Atoi(r.Target[1:])
	if err != nil {
		panic(err)
	}
	return n
}

// lenient takes any answer of 200.
type lenient struct{}

func (lenient) Judge(_ *Request, a *Answer) Fault {
	switch a.Status {
	case 200:
		return None
	case 429:
		return Throttled
	}
	return Status
}

// synthetic is an arm with a number of workers, a law for how long each request takes, and moments in which none works. It
// notes when it really began and ended, which is the truth that the report is held against: a sleep is rarely as long as
// it should be.
type synthetic struct {
	workers chan struct{}
	law     func(n int) time.Duration
	frozen  func(at time.Duration) time.Duration // for how much longer
	begun   time.Time

	mu   sync.Mutex // guards what follows
	sent map[int]time.Time
	ends map[int]time.Time
}

func newSynthetic(workers int, law func(n int) time.Duration) *synthetic {
	return &synthetic{
		workers: make(chan struct{}, workers), law: law, begun: time.Now(),
		frozen: func(time.Duration) time.Duration { return 0 },
		sent:   map[int]time.Time{}, ends: map[int]time.Time{},
	}
}

func (s *synthetic) Send(ctx context.Context, r *Request, a *Answer) error {
	n := numberOf(r)
	a.Wrote = time.Now()
	s.mu.Lock()
	s.sent[n] = a.Wrote
	s.mu.Unlock()
	select {
	case s.workers <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.workers }()
	time.Sleep(s.frozen(time.Since(s.begun)))
	time.Sleep(s.law(n))
	a.Status, a.End = 200, time.Now()
	s.mu.Lock()
	s.ends[n] = a.End
	s.mu.Unlock()
	return nil
}

// truth returns the response times of the requests that p measured, sorted.
func (s *synthetic) truth(p Plan, start time.Time) (response, service []time.Duration) {
	due := newSchedule(p)
	for n := 0; ; n++ {
		at := due.at()
		if at >= p.For {
			break
		}
		if end, ended := s.ends[n]; ended && at >= p.Discard {
			response = append(response, end.Sub(start)-at)
			service = append(service, end.Sub(s.sent[n]))
		}
	}
	slices.SortFunc(response, cmp.Compare)
	slices.SortFunc(service, cmp.Compare)
	return response, service
}

func quantilesAre(t *testing.T, what string, h *Histogram, truth []time.Duration) {
	t.Helper()
	if int(h.Count()) != len(truth) {
		t.Errorf("%s: %d times, want %d", what, h.Count(), len(truth))
	}
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		// Within 1 % or 100 microseconds of it; which of two neighbours in a thin tail is meant is a matter of definition.
		rank := int(math.Ceil(q*float64(len(truth)))) - 1
		low, high := truth[max(rank-1, 0)], truth[min(rank+1, len(truth)-1)]
		got := h.Quantile(q)
		if got < low-max(100*time.Microsecond, low/100) || got > high+max(100*time.Microsecond, high/100) {
			t.Errorf("%s p%g = %s, want %s", what, 100*q, got, truth[rank])
		}
	}
}

func addsUp(t *testing.T, b *Block) {
	t.Helper()
	for what, c := range map[string]Counts{"block": b.Counts, "warm-up": b.Warmup} {
		if c.Issued != c.Good+c.Bad+c.Hung+c.Failed || c.Hung < 0 {
			t.Errorf("%s does not add up: %+v", what, c)
		}
	}
	var routes Counts
	for _, r := range b.Routes {
		routes.add(r.Counts)
	}
	if routes.Issued != b.Issued || routes.Good != b.Good || b.Response.Count() != b.Good {
		t.Errorf("routes %+v, block %+v, %d times", routes, b.Counts, b.Response.Count())
	}
}

func mustRun(t *testing.T, p Plan, arm Arm) *Block {
	t.Helper()
	p.Routes = 1
	b, err := Run(context.Background(), p, new(numbered), arm, lenient{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	addsUp(t, b)
	return b
}

func exponential(mean time.Duration) func(n int) time.Duration {
	return func(n int) time.Duration {
		return time.Duration(float64(mean) * rand.New(rand.NewPCG(uint64(n), 9)).ExpFloat64())
	}
}

func TestQuantilesAreTheTruth(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers int
		law     func(n int) time.Duration
		rate    float64
		freeze  bool
	}{
		{"idle arm, constant", 64, func(int) time.Duration { return 5 * time.Millisecond }, 200, false},
		{"half full, exponential", 8, exponential(10 * time.Millisecond), 400, false},
		{"full", 2, exponential(10 * time.Millisecond), 250, false},
		{"frozen for a while", 8, exponential(5 * time.Millisecond), 300, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			arm := newSynthetic(c.workers, c.law)
			if c.freeze {
				arm.frozen = func(at time.Duration) time.Duration {
					if at > 1200*time.Millisecond && at < 1800*time.Millisecond {
						return 1800*time.Millisecond - at
					}
					return 0
				}
			}
			p := Plan{Rate: c.rate, Seed: 7, For: 3 * time.Second, Discard: 500 * time.Millisecond, InFlight: 4096, Drain: 30 * time.Second}
			b := mustRun(t, p, arm)
			response, service := arm.truth(p, b.Start)
			quantilesAre(t, "response", b.Response, response)
			quantilesAre(t, "service", b.Service, service)
			if c.freeze && b.Response.Quantile(0.99) < 300*time.Millisecond {
				t.Errorf("p99 = %s does not show the freeze", b.Response.Quantile(0.99))
			}
		})
	}
}

// Where few may be under way, the rest waits here, and that must show in the response times and not look like a slow arm.
func TestCeilingMakesRequestsLateAndDropsNone(t *testing.T) {
	arm := newSynthetic(4, func(int) time.Duration { return 10 * time.Millisecond })
	p := Plan{Rate: 300, Arrivals: Constant, For: 1500 * time.Millisecond, InFlight: 2}
	b := mustRun(t, p, arm)
	if b.Service.Quantile(0.5) > 40*time.Millisecond || b.Response.Quantile(0.9) < 200*time.Millisecond || b.Lateness.Quantile(0.9) < 150*time.Millisecond {
		t.Errorf("service p50 %s, response p90 %s, lateness p90 %s", b.Service.Quantile(0.5), b.Response.Quantile(0.9), b.Lateness.Quantile(0.9))
	}
	if b.MeanInFlight > 2 || b.MeanInFlight < 1.5 {
		t.Errorf("mean in flight = %.2f, want nearly 2", b.MeanInFlight)
	}
}

func TestInFlightFollowsLittle(t *testing.T) {
	b := mustRun(t, Plan{Rate: 200, For: 3 * time.Second}, newSynthetic(64, func(int) time.Duration { return 20 * time.Millisecond }))
	little := b.Rate(0) * b.Service.Mean().Seconds()
	if r := b.MeanInFlight / little; r < 0.9 || r > 1.1 {
		t.Errorf("mean in flight %.2f, rate x time %.2f", b.MeanInFlight, little)
	}
}

// armFunc is an arm of one function.
type armFunc func(ctx context.Context, n int, a *Answer) error

func (f armFunc) Send(ctx context.Context, r *Request, a *Answer) error {
	return f(ctx, numberOf(r), a)
}

func TestRequestsThatHangAreCounted(t *testing.T) {
	arm := armFunc(func(ctx context.Context, n int, a *Answer) error {
		if a.Status = 200; n%3 == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	b := mustRun(t, Plan{Rate: 300, Arrivals: Constant, For: time.Second, Drain: 50 * time.Millisecond}, arm)
	if b.Issued != 300 && b.Issued != 299 || b.Hung != 100 || b.Failed != 0 {
		t.Errorf("%+v, want 100 of 300 that hang", b.Counts)
	}
	if b.Oldest < 900*time.Millisecond {
		t.Errorf("oldest = %s", b.Oldest)
	}
}

// All hang: no more than the ceiling may be under way, and the block ends in time.
func TestArmThatAnswersNothing(t *testing.T) {
	arm := armFunc(func(ctx context.Context, _ int, _ *Answer) error {
		<-ctx.Done()
		return ctx.Err()
	})
	begun := time.Now()
	b := mustRun(t, Plan{Rate: 5000, For: 500 * time.Millisecond, Drain: 50 * time.Millisecond, InFlight: 100}, arm)
	if b.Good != 0 || b.Hung != b.Issued || b.Hung > 101 || time.Since(begun) > 3*time.Second {
		t.Errorf("%+v after %s", b.Counts, time.Since(begun))
	}
	if b.Response.Quantile(0.99) != 0 || b.Rate(0) != 0 {
		t.Errorf("p99 = %s, rate %g of nothing", b.Response.Quantile(0.99), b.Rate(0))
	}
}

func TestDeadlineEndsARequestAndNotItsClient(t *testing.T) {
	arm := armFunc(func(ctx context.Context, n int, a *Answer) error {
		if a.Status = 200; n%10 == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	b := mustRun(t, Plan{Rate: 100, Arrivals: Constant, For: time.Second, Deadline: 100 * time.Millisecond, InFlight: 1}, arm)
	if b.Failed < 5 || b.Errors["deadline"] != b.Failed || b.Good < 50 {
		t.Errorf("%+v, errors %v", b.Counts, b.Errors)
	}
}

func TestWhatWentWrongIsNamed(t *testing.T) {
	arm := armFunc(func(_ context.Context, n int, a *Answer) error {
		switch n % 4 {
		case 0:
			a.Status = 429
		case 1:
			return &timeoutError{}
		case 2:
			return syscall.EMFILE
		case 3:
			a.Status = 500
		}
		return nil
	})
	b := mustRun(t, Plan{Rate: 400, Arrivals: Constant, For: time.Second}, arm)
	if b.Faults["throttled"] != 100 || b.Faults["status"] < 99 || b.Errors["timeout"] != 100 || b.Errors[Local] != 100 || b.Good != 0 {
		t.Errorf("faults %v, errors %v", b.Faults, b.Errors)
	}
}

type timeoutError struct{}

func (*timeoutError) Error() string { return "timeout" }
func (*timeoutError) Timeout() bool { return true }

func TestInterruptedBlockIsPartialAndAddsUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	arm := armFunc(func(_ context.Context, _ int, a *Answer) error {
		if n++; n == 50 {
			cancel()
		}
		a.Status = 200
		return nil
	})
	b, err := Run(ctx, Plan{Closed: 1, For: time.Minute, Routes: 1}, new(numbered), arm, lenient{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	addsUp(t, b)
	if !b.Partial || b.Good < 50 || b.For > 30*time.Second {
		t.Errorf("partial %v, %+v, %s", b.Partial, b.Counts, b.For)
	}
}

func TestClosedLoopHoldsItsClients(t *testing.T) {
	b := mustRun(t, Plan{Closed: 5, For: time.Second, Discard: 200 * time.Millisecond}, newSynthetic(64, func(int) time.Duration { return 10 * time.Millisecond }))
	if b.MeanInFlight < 4.5 || b.MeanInFlight > 5 || b.Offered != 0 || b.Good < 200 {
		t.Errorf("in flight %.2f, offered %g, %d good", b.MeanInFlight, b.Offered, b.Good)
	}
}

func TestPlansThatAreNone(t *testing.T) {
	for _, p := range []Plan{
		{}, {Rate: 1, Closed: 1, For: time.Second, Routes: 1}, {Rate: -1, For: time.Second, Routes: 1}, {Rate: 1, Routes: 1},
		{Rate: 1, For: time.Second}, {Rate: 1, For: time.Second, Discard: time.Second, Routes: 1}, {Rate: 1e9, For: time.Second, Routes: 1},
		{Rate: math.NaN(), For: time.Second, Routes: 1}, {Rate: math.Inf(1), For: time.Second, Routes: 1},
	} {
		if _, err := Run(context.Background(), p, new(numbered), newSynthetic(1, nil), lenient{}, nil); !errors.Is(err, errPlan) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestArrivalsAreThoseOfTheirSeed(t *testing.T) {
	for _, arrivals := range []Arrivals{Poisson, Constant} {
		p := Plan{Rate: 1000, Arrivals: arrivals, Seed: 3}
		a, b := newSchedule(p), newSchedule(p)
		var at, before time.Duration
		var squares float64
		const n = 20000
		for range n {
			before, at = at, a.at()
			if at != b.at() {
				t.Fatal("one seed, two schedules")
			}
			squares += math.Pow((at-before).Seconds()*1000-1, 2)
		}
		if mean := at.Seconds() / n; math.Abs(mean*1000-1) > 0.03 {
			t.Errorf("%s: mean gap %g s", arrivals, mean)
		}
		if variance := squares / n; arrivals == Poisson && math.Abs(variance-1) > 0.1 || arrivals == Constant && variance > 1e-3 {
			t.Errorf("%s: variance %g", arrivals, variance)
		}
	}
}
