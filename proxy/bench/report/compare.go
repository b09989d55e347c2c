package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/stat"
)

// ComparisonSchema is the version of Comparison in JSON.
const ComparisonSchema = 1

// Comparison is what two runs show of the same arms.
type Comparison struct {
	Schema  int    `json:"schema"`
	Between [2]Run `json:"between"` // before and after
	// Differ says why the runs may not be compared. When there is anything in it, Arms is empty.
	Differ []string `json:"differ,omitempty"`
	// Changed is what else is not the same, and may be what is compared.
	Changed    []string      `json:"changed,omitempty"`
	Confidence float64       `json:"confidence"`
	Arms       []ArmCompared `json:"arms,omitempty"`
}

// Run is one of two runs.
type Run struct {
	Started time.Time `json:"started"`
	Version string    `json:"version"`
	Seed    uint64    `json:"seed"`
	Verdict string    `json:"verdict"`
}

// ArmCompared is one arm in both runs.
type ArmCompared struct {
	Name    string           `json:"name"`
	Figures []FigureCompared `json:"figures"`
}

// FigureCompared is one figure of an arm in both runs.
type FigureCompared struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Before bench.Spread `json:"before"`
	After  bench.Spread `json:"after"`
	// Ratio is after over before, of blocks that are not paired. Empty says why there is none.
	Ratio stat.Interval `json:"ratio"`
	P     float64       `json:"p"`
	// PHolm is P, corrected for all figures of all arms.
	PHolm float64 `json:"p_holm"`
	Empty string  `json:"empty,omitempty"`
}

// mostRateGap is by how much the rates of two runs may differ.
const mostRateGap = 0.01

// Compare holds two runs against each other. Their blocks were not measured in turn, so that what changed on the machine
// in between is in the ratios: they show less than arms of one run do.
func Compare(before, after *bench.Result) *Comparison {
	c := &Comparison{
		Schema: ComparisonSchema, Between: [2]Run{runOf(before), runOf(after)},
		Confidence: max(before.Settings.Confidence, after.Settings.Confidence),
	}
	c.settings(before.Settings, after.Settings)
	c.workload(before.Routes, after.Routes)
	for _, fact := range differing(before.Machine, after.Machine) {
		c.differ("another machine: %s", fact)
	}
	for i, r := range []*bench.Result{before, after} {
		if r.Verdict.State == bench.Invalid {
			c.differ("the %s run is %s: %s", [...]string{"first", "second"}[i], r.Verdict.State, r.Verdict.Text)
		}
	}
	if before.Version != after.Version {
		c.changed("gateway %s, then %s", before.Version, after.Version)
	}
	c.arms(before, after)
	return c
}

func runOf(r *bench.Result) Run { return Run{r.Started, r.Version, r.Seed, r.Verdict.State} }

func (c *Comparison) differ(format string, args ...any) {
	c.Differ = append(c.Differ, fmt.Sprintf(format, args...))
}

func (c *Comparison) changed(format string, args ...any) {
	c.Changed = append(c.Changed, fmt.Sprintf(format, args...))
}

// settings are compared but for the numbers of pairs and the gaps, on which no block depends.
func (c *Comparison) settings(a, b bench.Settings) {
	if math.Abs(a.Rate-b.Rate) > mostRateGap*max(a.Rate, b.Rate) {
		c.differ("another rate: %s a second, then %s; --rate keeps it", number(a.Rate), number(b.Rate))
	}
	for _, s := range []struct {
		what string
		a, b any
	}{
		{"arrivals", a.Arrivals, b.Arrivals}, {"clients", a.Closed, b.Closed}, {"length of blocks", a.Block, b.Block},
		{"time discarded", a.Discard, b.Discard}, {"cookies", a.Cookies, b.Cookies}, {"users", a.Users, b.Users}, {"way", a.Via, b.Via},
	} {
		if s.a != s.b {
			c.differ("other %s: %q, then %q", s.what, fmt.Sprint(s.a), fmt.Sprint(s.b))
		}
	}
}

// workload compares what was asked; sizes may be what has changed.
func (c *Comparison) workload(a, b []bench.RouteFacts) {
	said := func(routes []bench.RouteFacts) string {
		var all []string
		for _, r := range routes {
			if r.Left == "" {
				all = append(all, fmt.Sprintf("%s %s (%d, weight %g)", r.Method, r.Target, r.Status, r.Weight))
			}
		}
		return strings.Join(all, ", ")
	}
	if x, y := said(a), said(b); x != y {
		c.differ("another workload: %s; then %s", x, y)
	}
}

// differing lists what two maps do not have in common. What one of them does not know is no difference.
func differing(a, b map[string]string) (said []string) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if other, known := b[key]; known && other != a[key] {
			said = append(said, fmt.Sprintf("%s %q, then %q", key, a[key], other))
		}
	}
	return said
}

func (c *Comparison) arms(before, after *bench.Result) {
	var compared []ArmCompared
	for i := range before.Arms {
		j := slices.IndexFunc(after.Arms, func(a bench.ArmFacts) bool { return a.Name == before.Arms[i].Name })
		if j < 0 {
			continue
		}
		c.facts(&before.Arms[i], &after.Arms[j])
		compared = append(compared, c.arm(before, after, i, j))
	}
	if len(compared) == 0 {
		c.differ("no arm is in both: %s, then %s", title(before), title(after))
	}
	if len(c.Differ) == 0 {
		c.Arms = compared
		c.correct()
	}
}

func (c *Comparison) facts(a, b *bench.ArmFacts) {
	if a.Kind != b.Kind {
		c.differ("%s is asked in another way: %s, then %s", a.Name, a.Kind, b.Kind)
	}
	if a.Address != b.Address {
		c.changed("%s at %s, then at %s", a.Name, a.Address, b.Address)
	}
	if a.Workers != b.Workers {
		c.changed("%s with %d workers, then with %d", a.Name, a.Workers, b.Workers)
	}
	for _, fact := range differing(a.Fingerprint, b.Fingerprint) {
		c.changed("%s: %s", a.Name, fact)
	}
}

func (c *Comparison) arm(before, after *bench.Result, i, j int) ArmCompared {
	arm := ArmCompared{Name: before.Arms[i].Name}
	for _, f := range before.Figures {
		at := slices.IndexFunc(after.Figures, func(g bench.Figure) bool { return g.Name == f.Name })
		if at < 0 {
			continue
		}
		figure := FigureCompared{Name: f.Name, Unit: f.Unit}
		g := after.Figures[at]
		if len(f.Of) == 0 || len(g.Of) == 0 {
			figure.Empty = f.Empty
			if f.Empty == "" {
				figure.Empty = g.Empty
			}
		} else {
			figure.Before, figure.After = f.Of[i], g.Of[j]
			figure.compare(values(before, f.Name, i), values(after, f.Name, j), c.Confidence)
		}
		arm.Figures = append(arm.Figures, figure)
	}
	return arm
}

func (f *FigureCompared) compare(before, after []float64, confidence float64) {
	ratio, ok := stat.Unpaired(before, after, confidence)
	if !ok {
		f.Empty = fmt.Sprintf("%d and %d blocks are too few", len(before), len(after))
		return
	}
	f.Ratio, f.P = ratio, stat.Different(before, after)
}

// values are those of an arm's blocks.
func values(r *bench.Result, figure string, arm int) (all []float64) {
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.Arm == arm && !b.Control {
			if v, ok := r.Value(figure, b); ok {
				all = append(all, v)
			}
		}
	}
	return all
}

// correct fills in PHolm.
func (c *Comparison) correct() {
	var tested []*FigureCompared
	var p []float64
	for i := range c.Arms {
		for j := range c.Arms[i].Figures {
			if f := &c.Arms[i].Figures[j]; f.Empty == "" {
				tested, p = append(tested, f), append(p, f.P)
			}
		}
	}
	for i, corrected := range stat.Holm(p) {
		tested[i].PHolm = corrected
	}
}
