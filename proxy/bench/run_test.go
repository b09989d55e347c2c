package bench

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/workload"
)

// armFunc answers by itself. n counts its requests.
type armFunc struct {
	n      atomic.Int64
	answer func(ctx context.Context, n int64, a *load.Answer) error
}

func (f *armFunc) Send(ctx context.Context, _ *load.Request, a *load.Answer) error {
	a.Status, a.Size, a.Header = 200, 1000, http.Header{}
	a.Wrote = time.Now()
	err := f.answer(ctx, f.n.Add(1), a)
	a.End = time.Now()
	return err
}

func sleeps(d time.Duration) func(context.Context, int64, *load.Answer) error {
	return func(context.Context, int64, *load.Answer) error {
		time.Sleep(d)
		return nil
	}
}

func arm(name string, answer func(context.Context, int64, *load.Answer) error) Arm {
	return Arm{Name: name, ArmFacts: ArmFacts{Kind: "http", Address: "nowhere"}, Load: &armFunc{answer: answer}}
}

// quick is a bench of short blocks, for the clock of synctest: its arms take the time they say to the nanosecond and the
// generator takes none, however busy the machine is. What it measures is not much; what its rules say is the same.
func quick(arms ...Arm) Config {
	return Config{
		Arms: arms, Workload: &workload.Workload{Host: "x", Routes: []workload.Route{{Target: "/"}}},
		Closed: 4, Block: 250 * time.Millisecond, Discard: 50 * time.Millisecond, Gap: time.Millisecond, Pairs: 6,
		Warmup: 600 * time.Millisecond, Seed: 1,
		sleep: time.Sleep, cpu: func() time.Duration { return 0 },
	}
}

// onOwnClock runs a test whose time goes on when everybody waits.
func onOwnClock(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func mustRun(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rules(r *Result) (ids []string) {
	for _, f := range r.Findings {
		if !f.Flag {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

func TestSlowerArmIsFound(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		r := mustRun(t, quick(arm("fpm", sleeps(8*time.Millisecond)), arm("octane", sleeps(2*time.Millisecond))))
		if r.Verdict.State != Valid || r.Verdict.Winner != 1 {
			t.Errorf("verdict %+v, findings %+v", r.Verdict, r.Findings)
		}
		f := r.headline()
		if f.Name != "throughput" || f.Compared.Ratio.Low < 2 || f.Compared.Ratio.High > 5 {
			t.Errorf("%+v, %+v", f, f.Compared)
		}
		if r.Arms[0].Warmup == nil || len(r.Blocks) != 14 || r.Routes[0].Status != 200 {
			t.Errorf("warm-up %+v, %d blocks, routes %+v", r.Arms[0].Warmup, len(r.Blocks), r.Routes)
		}
	})
}

func TestOneArmIsMeasured(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		r := mustRun(t, quick(arm("octane", sleeps(2*time.Millisecond))))
		if r.Verdict.State != Valid || r.Verdict.Winner != -1 || len(r.Blocks) != 6 || r.Figures[0].Of[0].Median == 0 {
			t.Errorf("verdict %+v, %d blocks, figures %+v", r.Verdict, len(r.Blocks), r.Figures)
		}
	})
}

// Whatever is wrong, there is a rule that says so and no winner.
func TestFaultsTakeTheWinnerAway(t *testing.T) {
	fast := func() Arm { return arm("fpm", sleeps(2*time.Millisecond)) }
	const learning = learnRounds * 1 // requests before any is measured
	for _, c := range []struct {
		name, rule string
		answer     func(context.Context, int64, *load.Answer) error
	}{
		{"throttle", "V02", func(_ context.Context, n int64, a *load.Answer) error {
			if n > 60 {
				a.Status = 429
			}
			return nil
		}},
		{"redirect to login", "V02", func(_ context.Context, n int64, a *load.Answer) error {
			if n > learning+100 && n%50 == 0 {
				a.Status = 302
				a.Header.Set("Location", "https://x/login")
			}
			return nil
		}},
		{"errors", "V01", func(_ context.Context, n int64, a *load.Answer) error {
			if n > learning && n%100 == 0 {
				a.Status = 500
			}
			return nil
		}},
		{"broken answers", "V01", func(_ context.Context, n int64, _ *load.Answer) error {
			if n > learning && n%50 == 0 {
				return errors.New("reset")
			}
			return nil
		}},
		{"another page", "V01", func(_ context.Context, n int64, a *load.Answer) error {
			if n > learning {
				a.Size = 50
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onOwnClock(t, func(t *testing.T) {
				answer := func(ctx context.Context, n int64, a *load.Answer) error {
					time.Sleep(time.Millisecond)
					return c.answer(ctx, n, a)
				}
				r := mustRun(t, quick(fast(), arm("octane", answer)))
				if r.Verdict.State != Invalid || r.Verdict.Winner != -1 || !slices.Contains(rules(r), c.rule) || !strings.Contains(r.Verdict.Text, c.rule) {
					t.Errorf("verdict %+v, findings %+v; want %s", r.Verdict, r.Findings, c.rule)
				}
			})
		})
	}
}

func TestRouteThatDiffersIsLeftOut(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		missing := func(_ context.Context, _ int64, a *load.Answer) error {
			a.Status = 404
			return nil
		}
		c := quick(arm("fpm", sleeps(time.Millisecond)), arm("octane", missing))
		if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "octane answers 404, where 200 came before") {
			t.Errorf("error = %v", err)
		}
	})
}

func TestInterruptedRunIsPartial(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		c := quick(arm("fpm", sleeps(time.Millisecond)), arm("octane", sleeps(time.Millisecond)))
		c.Tell = func(e Event) {
			if e.Block != nil && e.Done == 3 {
				cancel()
			}
		}
		r, err := Run(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Partial || len(r.Blocks) != 3 || r.Verdict.State == Valid {
			t.Errorf("partial %v, %d blocks, %+v", r.Partial, len(r.Blocks), r.Verdict)
		}
	})
}

func TestRateIsChosenBelowTheSlowerArm(t *testing.T) {
	onOwnClock(t, func(t *testing.T) {
		c := quick(arm("fpm", sleeps(10*time.Millisecond)), arm("octane", sleeps(time.Millisecond)))
		c.Closed, c.Block = 0, 400*time.Millisecond
		r := mustRun(t, c)
		// Eight clients of 10 ms each make up to 800 a second.
		if r.Settings.Rate < 50 || r.Settings.Rate > 420 {
			t.Errorf("rate = %g", r.Settings.Rate)
		}
		if f := r.Figures[2]; f.Name != "p99" || f.Empty == "" {
			t.Errorf("p99 of so few answers: %+v", f)
		}
	})
}

func TestConfigsThatAreNone(t *testing.T) {
	for _, c := range []Config{
		{Workload: &workload.Workload{}},
		quick(),
		func() Config { c := quick(arm("a", nil)); c.Rate = 1; return c }(),
		func() Config { c := quick(arm("a", nil), arm("b", nil)); c.Pairs = 3; return c }(),
		func() Config { c := quick(arm("a", nil)); c.Discard = time.Hour; return c }(),
		func() Config { c := quick(arm("a", nil)); c.Workload = &workload.Workload{Host: "x"}; return c }(),
	} {
		if _, err := Run(context.Background(), c); err == nil {
			t.Errorf("%+v ran", c)
		}
	}
}

func TestOrderOfPairs(t *testing.T) {
	turns := arrange(2, 12, 3)
	if len(turns) != 2*(12+2) {
		t.Fatalf("%d turns", len(turns))
	}
	firsts, controls := [2]int{}, [2]int{}
	for i := 0; i < len(turns); i += 2 {
		a, b := turns[i], turns[i+1]
		if a.pair != b.pair || a.seed != b.seed || a.position != 0 || b.position != 1 || a.control != b.control || a.control != (a.arm == b.arm) {
			t.Errorf("pair %+v, %+v", a, b)
		}
		if a.control {
			controls[a.arm]++
		} else {
			firsts[a.arm]++
		}
	}
	if firsts != [2]int{6, 6} || controls != [2]int{1, 1} {
		t.Errorf("firsts %v, controls %v", firsts, controls)
	}
	if again := arrange(2, 12, 3); !slices.Equal(turns, again) {
		t.Error("one seed, two orders")
	}
}
