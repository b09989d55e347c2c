package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/stat"
)

// KneeConfig is a search for the rate up to which each arm keeps its promise. Rate, Closed, Block, Discard and Pairs of
// its Config are not used.
type KneeConfig struct {
	Config
	// SLO is the response time that 95 of 100 answers must keep. Zero means five times that of the slower arm at the lowest
	// rate.
	SLO time.Duration
	// Step is how long a rate is tried. Zero means 20 s. Where a p95 could not be told after it, it is tried longer.
	Step time.Duration
}

// Knee is what each arm takes.
type Knee struct {
	SLO  time.Duration `json:"slo_ns"`
	Step time.Duration `json:"step_ns"`
	Arms []ArmKnee     `json:"arms"`
}

// ArmKnee is what one arm takes.
type ArmKnee struct {
	// Ceiling is what it answered in a closed loop, in requests a second as all rates are.
	Ceiling float64 `json:"ceiling"`
	// Capacity is the highest rate that was kept three times. It reaches from the least rate of answers that was seen then
	// to the lowest rate that was not kept. Nil: none was kept.
	Capacity *stat.Interval `json:"capacity,omitempty"`
	// PerCPU is how many answers a second of CPU time makes at that rate. Zero is not known.
	PerCPU float64 `json:"per_cpu,omitempty"`
	// Law is how many the workers could answer, were all of them always busy: their number over the mean service time at the
	// lowest rate. Zero is not known.
	Law float64 `json:"law,omitempty"`
	// Bound says what the capacity hangs on: "workers", "CPU", "generator", or "something else", such as a database.
	Bound string `json:"bound,omitempty"`
	// USL is nil where NoUSL says why there is none.
	USL   *stat.USL  `json:"usl,omitempty"`
	NoUSL string     `json:"no_usl,omitempty"`
	Steps []KneeStep `json:"steps"`
}

// KneeStep is one rate that was tried.
type KneeStep struct {
	Phase  string `json:"phase"` // ladder, bisect or confirm
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"` // it did not pass
	*load.Block
	Usage *Usage `json:"usage,omitempty"`
}

// knee is a search under way.
type knee struct {
	*run
	searches []*search
	found    *Knee
}

// FindKnee searches and returns all of it. When ctx ends, what has been found until then is returned and marked as partial.
func FindKnee(ctx context.Context, cfg KneeConfig) (*Result, error) {
	cfg.Step = cmp.Or(cfg.Step, 20*time.Second)
	cfg.Rate, cfg.Closed, cfg.Pairs, cfg.Block, cfg.Discard = 0, 0, 0, cfg.Step, cfg.Step/10
	r, err := newRun(cfg.Config)
	if err != nil {
		return nil, err
	}
	k := &knee{run: r, found: &Knee{SLO: cfg.SLO, Step: cfg.Step, Arms: make([]ArmKnee, len(cfg.Arms))}}
	r.result.Knee = k.found
	if err := r.finish(ctx, r.login, r.learn, r.warmUp, k.ceilings, k.climb); err != nil {
		return nil, err
	}
	k.conclude()
	return r.result, nil
}

// ceilings sees what each arm takes in a closed loop: where to begin.
func (k *knee) ceilings(ctx context.Context) error {
	for arm := range k.Arms {
		rate, err := k.probe(ctx, arm)
		if err != nil {
			return err
		}
		k.found.Arms[arm].Ceiling = rate
		k.searches = append(k.searches, newSearch(rate))
	}
	return nil
}

// climb tries a rate of each arm in turn, in an order by chance, until all are done.
func (k *knee) climb(ctx context.Context) error {
	random := rand.New(rand.NewPCG(k.Seed, 0x6b6e6565))
	for left := true; left; {
		left = false
		for _, arm := range random.Perm(len(k.searches)) {
			if k.searches[arm].done {
				continue
			}
			left = true
			if err := k.step(ctx, arm, random.Uint64()); err != nil {
				return err
			}
			if !pause(ctx, k.Gap) {
				return context.Cause(ctx)
			}
		}
		k.chooseSLO()
	}
	return nil
}

// chooseSLO sets what was not set, once every arm has been asked at its lowest rate. It is one for all: were it each arm's
// own, a slow one would have an easier task.
func (k *knee) chooseSLO() {
	if k.found.SLO > 0 {
		return
	}
	for arm := range k.found.Arms {
		k.found.SLO = max(k.found.SLO, 5*k.found.Arms[arm].Steps[0].Response.Quantile(0.95))
	}
}

func (k *knee) step(ctx context.Context, arm int, seed uint64) error {
	s := k.searches[arm]
	p := k.plan(k.lasting(s.rate), k.Discard, seed)
	p.Rate = s.rate
	b, err := k.measure(ctx, turn{arm: arm, seed: seed}, p, "knee")
	if err != nil {
		return err
	}
	if b.Partial {
		return context.Cause(ctx)
	}
	step := KneeStep{Phase: s.phase, Block: b.Block, Usage: b.Usage}
	step.Why = whyNot(b.Block, k.Discard, k.found.SLO)
	step.Passed = step.Why == ""
	steps := append(k.found.Arms[arm].Steps, step)
	k.found.Arms[arm].Steps = steps
	s.note(step.Passed)
	k.Tell(Event{Phase: "knee", Arm: arm, Done: len(steps), Block: b})
	return nil
}

// lasting is Step, or as long as it takes until enough answers lie beyond the p95.
func (k *knee) lasting(rate float64) time.Duration {
	enough := time.Duration(stat.FewestBeyond / 0.05 / rate * float64(time.Second))
	return max(k.found.Step, enough+k.Discard)
}

// whyNot says what an arm did not keep at a rate, or nothing. An SLO of zero is not known yet.
func whyNot(b *load.Block, discard, slo time.Duration) string {
	ended := share(b.Good+b.Bad+b.Failed, b.Due)
	p95 := b.Response.Quantile(0.95)
	switch {
	case ended < fewestOffered:
		return fmt.Sprintf("%.1f %% of %d requests were answered", 100*ended, b.Due)
	case share(b.Good, b.Issued) < 1-mostBad:
		return fmt.Sprintf("%d of %d answers were wrong or none (%s)", b.Issued-b.Good, b.Issued, list(b.Faults, b.Errors))
	case slo > 0 && p95 > slo && b.Service.Quantile(0.95) <= slo:
		return generatorLate // the arm itself kept it
	case slo > 0 && p95 > slo:
		return fmt.Sprintf("p95 %s", p95.Round(10*time.Microsecond))
	case grows(b, discard):
		return "ever more were under way"
	}
	return ""
}

const generatorLate = "the generator was late"

// grows says whether the number of requests under way had a clear trend up, by more than 1 in 100 of all.
func grows(b *load.Block, discard time.Duration) bool {
	var at, underWay []float64
	var now int64
	for second, s := range b.Seconds {
		now += s.Started - s.Good - s.Other
		if end := time.Duration(second+1) * time.Second; end > discard && end <= b.For {
			at, underWay = append(at, float64(second)), append(underWay, float64(now))
		}
	}
	trend, ok := stat.FindTrend(at, underWay, 0.95)
	return ok && trend.P < 0.05 && trend.Slope.Low > 0 && trend.Slope.Estimate > mostUnanswered*b.Offered
}

const mostUnanswered = 0.01

// conclude says what the steps show.
func (k *knee) conclude() {
	late := false
	for arm, s := range k.searches {
		a := &k.found.Arms[arm]
		if len(a.Steps) == 0 {
			continue
		}
		if workers := k.result.Arms[arm].Workers; workers > 0 {
			a.Law = float64(workers) / a.Steps[0].Service.Mean().Seconds()
		}
		a.fitUSL(k.Confidence, k.Discard)
		if !s.found() {
			continue
		}
		a.capacity(s, k.Discard, k.result.Settings.Processors)
		if a.Bound == boundGenerator {
			late = true
			k.result.find("V05", arm, "the generator could do no more than %.0f requests a second to %s", a.Capacity.Estimate, k.result.Arms[arm].Name)
		}
	}
	k.result.Verdict = k.verdict(late)
}

// What a capacity hangs on.
const (
	boundWorkers   = "workers"
	boundCPU       = "CPU"
	boundGenerator = "generator"
	boundElse      = "something else"
)

// capacity reads off the steps what was found.
func (a *ArmKnee) capacity(s *search, discard time.Duration, processors int) {
	least := math.Inf(1)
	var cpu, good, all, wall float64
	for i := range a.Steps {
		step := &a.Steps[i]
		if step.Phase != confirm || !step.Passed || step.Offered != s.low {
			continue
		}
		least = min(least, step.Rate(discard))
		all += step.GeneratorCPU.Seconds()
		wall += step.For.Seconds()
		if step.Usage != nil {
			cpu += step.Usage.CPU.Seconds()
			good += float64(step.Good + step.Warmup.Good)
		}
	}
	a.Capacity = &stat.Interval{Estimate: s.low, Low: min(least, s.low), High: s.high}
	if cpu > 0 {
		a.PerCPU = good / cpu
	}
	a.Bound = a.bound((cpu+all)/wall >= fullCPU*float64(processors))
}

const (
	nearLaw = 0.05
	fullCPU = 0.95
)

// bound says what keeps an arm from more. full says that it and the generator had all of the processors.
func (a *ArmKnee) bound(full bool) string {
	late := false
	for _, step := range a.Steps {
		late = late || step.Why == generatorLate && step.Offered <= a.Capacity.High
	}
	switch {
	case late:
		return boundGenerator
	case a.Law > 0 && max(a.Ceiling, a.Capacity.High) >= a.Law*(1-nearLaw):
		return boundWorkers
	case full:
		return boundCPU
	}
	return boundElse
}

// fitUSL fits the law to all steps in which the arm kept up.
func (a *ArmKnee) fitUSL(confidence float64, discard time.Duration) {
	var n, x []float64
	for _, step := range a.Steps {
		if share(step.Good, step.Due) >= fewestOffered {
			n, x = append(n, step.MeanInFlight), append(x, step.Rate(discard))
		}
	}
	u, err := stat.FitUSL(n, x, confidence)
	if err != nil {
		a.NoUSL = err.Error()
		return
	}
	a.USL = &u
}

func (k *knee) verdict(late bool) Verdict {
	text := ""
	for arm := range k.found.Arms {
		c := k.found.Arms[arm].Capacity
		switch {
		case late:
			return Verdict{Invalid, -1, "nothing can be concluded: V05"}
		case k.result.Partial:
			return Verdict{Inconclusive, -1, "the search was ended before its time"}
		case c == nil:
			return Verdict{Inconclusive, -1, k.result.Arms[arm].Name + " kept no rate three times"}
		}
		if arm > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s takes %.0f requests a second (%.0f to %.0f)", k.result.Arms[arm].Name, c.Estimate, c.Low, c.High)
	}
	return Verdict{Valid, k.winner(), text}
}

// winner is the arm whose capacity is above all of the other's.
func (k *knee) winner() int {
	if len(k.found.Arms) == 2 {
		a, b := k.found.Arms[0].Capacity, k.found.Arms[1].Capacity
		switch {
		case b.Low > a.High:
			return 1
		case a.Low > b.High:
			return 0
		}
	}
	return -1
}
