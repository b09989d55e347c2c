package compare

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	maxEntries = 10_000 // places that are told apart
	reservoir  = 4      // samples of a place that are drawn from all, beside the newest
)

// Tally counts what many comparisons have found, and keeps a few samples of each kind of difference in each place. The
// zero value is not usable; see NewTally. It may be used concurrently.
type Tally struct {
	mu      sync.Mutex // guards all below
	random  *rand.Rand
	entries map[place]*Entry
	masks   map[place]int
	whole   map[place]int
	pairs   map[string]int
}

// place is where something was found: name is a kind, a mask or a reason.
type place struct{ route, path, name string }

// Entry is a kind of difference in one place.
type Entry struct {
	Route    string   `json:"route"`
	Path     string   `json:"path"`
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"` // the worst that was seen
	Count    int      `json:"count"`
	// Samples are the newest, and up to 4 that are drawn from all. There is at least one.
	Samples []Sample `json:"samples"`
}

// Sample is one difference. It holds no secrets; see Difference.
type Sample struct {
	At time.Time `json:"at"`
	A  string    `json:"a"`
	B  string    `json:"b"`
}

// Hidden is how often a mask has hidden a difference in one place.
type Hidden struct {
	Route string `json:"route"`
	Path  string `json:"path"`
	Mask  string `json:"mask"`
	Count int    `json:"count"`
}

// NewTally returns an empty one. seed draws the samples.
func NewTally(seed uint64) *Tally {
	return &Tally{
		random: rand.New(rand.NewPCG(seed, 0)), entries: map[place]*Entry{}, masks: map[place]int{},
		whole: map[place]int{}, pairs: map[string]int{},
	}
}

// Add counts what a comparison of a request to that route has found.
func (t *Tally) Add(route string, at time.Time, o *Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.pairs[route]; !ok && len(t.pairs) >= maxEntries {
		route = more
	}
	t.pairs[route]++
	for _, d := range o.Differences {
		t.difference(route, at, d)
	}
	if o.More > 0 {
		t.difference(route, at, Difference{Kind: Value, Path: more, A: itoa(o.More) + " more differences"})
	}
	for _, m := range o.Masked {
		bump(t.masks, place{route, m.Path, m.Mask}, m.Count)
	}
	if o.Uncompared != "" {
		bump(t.whole, place{route, "body", o.Uncompared}, 1)
	}
}

// bump counts a place, or (more) when there are too many.
func bump(counts map[place]int, at place, by int) {
	if _, ok := counts[at]; !ok && len(counts) >= maxEntries {
		at = place{more, more, at.name}
	}
	counts[at] += by
}

func (t *Tally) difference(route string, at time.Time, d Difference) {
	key := place{route, d.Path, string(d.Kind)}
	e := t.entries[key]
	if e == nil && len(t.entries) >= maxEntries {
		key = place{more, more, string(d.Kind)}
		e = t.entries[key]
	}
	if e == nil {
		e = &Entry{Route: key.route, Path: key.path, Kind: d.Kind}
		t.entries[key] = e
	}
	e.Count++
	e.Severity = max(e.Severity, d.Severity)
	e.keep(Sample{at, d.A, d.B}, t.random)
}

// keep puts the newest first; behind it is a reservoir in which each older one is as likely.
func (e *Entry) keep(s Sample, random *rand.Rand) {
	if len(e.Samples) == 0 {
		e.Samples = []Sample{s}
		return
	}
	older := e.Samples[0]
	e.Samples[0] = s
	if len(e.Samples) <= reservoir {
		e.Samples = append(e.Samples, older)
		return
	}
	if i := random.IntN(e.Count - 1); i < reservoir {
		e.Samples[1+i] = older
	}
}

// Pairs is how many comparisons of a route were added.
func (t *Tally) Pairs(route string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pairs[route]
}

// Differences returns copies of all entries, the worst and the most frequent first.
func (t *Tally) Differences() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Entry
	for _, e := range t.entries {
		one := *e
		one.Samples = slices.Clone(e.Samples)
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(int(b.Severity-a.Severity), b.Count-a.Count, cmp.Compare(a.Route, b.Route), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// Masked returns what was hidden, the most frequent first.
func (t *Tally) Masked() []Hidden { return t.hidden(t.masks) }

// Uncompared returns how many bodies were compared as a whole only, with the reason as Mask.
func (t *Tally) Uncompared() []Hidden { return t.hidden(t.whole) }

func (t *Tally) hidden(counts map[place]int) []Hidden {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Hidden
	for at, n := range counts {
		all = append(all, Hidden{at.route, at.path, at.name, n})
	}
	slices.SortFunc(all, func(a, b Hidden) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Route, b.Route), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Mask, b.Mask))
	})
	return all
}
