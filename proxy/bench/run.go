package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/stat"
	"gateway/proxy/bench/workload"
)

// run is a bench under way.
type run struct {
	Config
	result   *Result
	visitors []*workload.Visitors
	judge    *learnt
	turns    int
}

// Run makes a bench and returns all of it. When ctx ends, what has been measured until then, be it nothing, is returned and
// marked as partial. An error means that nothing could be measured.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r, err := newRun(cfg)
	if err != nil {
		return nil, err
	}
	if err := r.finish(ctx, r.login, r.learn, r.warmUp, r.chooseRate, r.blocks); err != nil {
		return nil, err
	}
	r.result.conclude()
	return r.result, nil
}

func newRun(cfg Config) (*run, error) {
	started := time.Now()
	cfg, err := cfg.withDefaults(started)
	if err != nil {
		return nil, err
	}
	r := &run{Config: cfg, result: &Result{
		Schema: Schema, Version: cfg.Version, Command: cfg.Command, Started: started, Seed: cfg.Seed, Machine: cfg.Machine,
	}}
	for _, arm := range cfg.Arms {
		facts := arm.ArmFacts
		facts.Name = arm.Name
		r.result.Arms = append(r.result.Arms, facts)
		r.visitors = append(r.visitors, cfg.Workload.Visitors(arm.Load))
	}
	return r, nil
}

// finish goes through the phases, and fills in what is known at their end. That ctx has ended is no error.
func (r *run) finish(ctx context.Context, phases ...func(context.Context) error) error {
	err := r.phases(ctx, phases)
	r.result.Settings = r.settings()
	r.result.Took = time.Since(r.result.Started)
	r.result.Partial = ctx.Err() != nil
	if r.result.Partial {
		return nil
	}
	return err
}

func (r *run) phases(ctx context.Context, phases []func(context.Context) error) error {
	for _, phase := range phases {
		if err := phase(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *run) login(ctx context.Context) error {
	for arm, v := range r.visitors {
		if err := v.Login(ctx); err != nil {
			return fmt.Errorf("%s: %w", r.Arms[arm].Name, err)
		}
	}
	return nil
}

// plan is a block of load for this bench.
func (r *run) plan(lasting, discard time.Duration, seed uint64) load.Plan {
	return load.Plan{
		Rate: r.Rate, Arrivals: r.Arrivals, Closed: r.Closed, Seed: seed, For: lasting, Discard: discard,
		Deadline: r.Deadline, Drain: r.Drain,
	}
}

func (r *run) load(ctx context.Context, arm int, p load.Plan, phase string) (*load.Block, error) {
	watch := func(progress load.Progress) {
		r.Tell(Event{Phase: phase, Arm: arm, Done: len(r.result.Blocks), All: r.turns, Progress: progress})
	}
	p.Routes, p.Sleep, p.CPU = len(r.Workload.Routes), r.sleep, r.cpu
	return load.Run(ctx, p, r.Workload.Source(p.Seed), r.visitors[arm], r.judge, watch)
}

const (
	warmWindow  = 2 * time.Second
	warmWindows = 6 // that must show no trend
	warmClients = 4
	warmHalves  = 0.03
)

// window is how long one look at an arm that warms up takes.
func (c Config) window() time.Duration {
	return min(warmWindow, max(c.Warmup/warmWindows, 50*time.Millisecond))
}

// warmUp asks each arm until it gets no faster any more.
func (r *run) warmUp(ctx context.Context) error {
	for arm := range r.Arms {
		w, err := r.warm(ctx, arm)
		if err != nil {
			return err
		}
		r.result.Arms[arm].Warmup = w
	}
	return nil
}

func (r *run) warm(ctx context.Context, arm int) (*Warmup, error) {
	r.Tell(Event{Phase: "warm-up", Arm: arm})
	w := new(Warmup)
	window := r.window()
	for w.Took < r.Warmup && !w.Settled && ctx.Err() == nil {
		p := load.Plan{Closed: max(r.Closed, warmClients), For: window, Seed: r.Seed}
		b, err := r.load(ctx, arm, p, "warm-up")
		if err != nil {
			return nil, err
		}
		w.Took += window
		w.Windows = append(w.Windows, Window{b.Good, b.Response.Quantile(0.5), b.Response.Quantile(0.95)})
		w.Settled = isSettled(w.Windows)
	}
	return w, nil
}

// isSettled says whether the last windows show no trend, and their halves are alike.
func isSettled(windows []Window) bool {
	if len(windows) < warmWindows {
		return false
	}
	var x, y []float64
	halves := [2]float64{}
	for i, w := range windows[len(windows)-warmWindows:] {
		if w.Good == 0 {
			return false
		}
		x, y = append(x, float64(i)), append(y, float64(w.P50))
		halves[i*2/warmWindows] += float64(w.P50)
	}
	trend, ok := stat.FindTrend(x, y, 0.95)
	return ok && trend.P > 0.1 && halves[1] > halves[0]*(1-warmHalves) && halves[1] < halves[0]*(1+warmHalves)
}

const (
	probeFor     = 5 * time.Second
	probeClients = 8
	restShare    = 0.5 // of what the slower arm takes: far enough from full that the latencies are the application's
)

var errNothingGood = errors.New("no good answer")

// chooseRate finds a rate that both arms can take, where none was asked for.
func (r *run) chooseRate(ctx context.Context) error {
	if r.Rate > 0 || r.Closed > 0 {
		return nil
	}
	for arm := range r.Arms {
		most, err := r.probe(ctx, arm)
		if err != nil {
			return err
		}
		if rate := restShare * most; r.Rate == 0 || rate < r.Rate {
			r.Rate = rate
		}
	}
	return nil
}

// probe sees how many requests an arm answers in a second when a few clients ask as fast as they can.
func (r *run) probe(ctx context.Context, arm int) (float64, error) {
	r.Tell(Event{Phase: "probe", Arm: arm})
	clients := max(probeClients, 2*r.Arms[arm].Workers)
	p := load.Plan{Closed: clients, For: min(probeFor, r.Block), Seed: r.Seed}
	b, err := r.load(ctx, arm, p, "probe")
	switch {
	case err != nil:
		return 0, err
	case b.Partial:
		return 0, context.Cause(ctx)
	case b.Good == 0:
		return 0, fmt.Errorf("%s: %w in the probe: %s", r.Arms[arm].Name, errNothingGood, list(b.Faults, b.Errors))
	}
	return b.Rate(0), nil
}

// blocks measures the pairs.
func (r *run) blocks(ctx context.Context) error {
	turns := arrange(len(r.Arms), r.Pairs, r.Seed)
	r.turns = len(turns)
	for i, t := range turns {
		if i > 0 && !pause(ctx, r.Gap) {
			return context.Cause(ctx)
		}
		b, err := r.measure(ctx, t, r.plan(r.Block, r.Discard, t.seed), "blocks")
		if err != nil {
			return err
		}
		if b.Partial {
			return context.Cause(ctx) // half a block says nothing that could be held against a whole one
		}
		r.result.Blocks = append(r.result.Blocks, *b)
		r.Tell(Event{Phase: "blocks", Arm: t.arm, Done: i + 1, All: len(turns), Block: b})
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// measure measures one block, while the other arm gets a request now and then, so that its workers and connections stay.
func (r *run) measure(ctx context.Context, t turn, p load.Plan, phase string) (*Block, error) {
	before := r.look(ctx, t.arm)
	stop := r.trickle(ctx, t)
	b, err := r.load(ctx, t.arm, p, phase)
	stop()
	if err != nil {
		return nil, err
	}
	return &Block{
		Arm: t.arm, Pair: t.pair, Position: t.position, Control: t.control, Block: b, Usage: used(before, r.look(ctx, t.arm)),
	}, nil
}

func (r *run) look(ctx context.Context, arm int) *Usage {
	if r.Arms[arm].Look == nil {
		return nil
	}
	u, err := r.Arms[arm].Look(ctx)
	if err != nil {
		return nil // the figures that need it say that it is not known
	}
	return &u
}

// used is what was used between two looks.
func used(before, after *Usage) *Usage {
	if before == nil || after == nil {
		return nil
	}
	u := *after
	u.CPU -= before.CPU
	u.Restarts -= before.Restarts
	u.OOMKills -= before.OOMKills
	return &u
}

// trickle asks the arm that is not measured once a second until stop is called.
func (r *run) trickle(ctx context.Context, t turn) (stop func()) {
	if len(r.Arms) < 2 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source, other := r.Workload.Source(t.seed), r.visitors[1-t.arm]
		for pause(ctx, time.Second) {
			// What comes of it is nobody's concern.
			_ = other.Send(ctx, source.Next(), new(load.Answer))
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
