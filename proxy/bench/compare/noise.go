package compare

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gateway/proxy/bench/stat"
)

// NoiseConfig says when something is noise.
type NoiseConfig struct {
	// Margin is by how much more often, in shares of the requests, the shadow may disagree for it to be noise. Zero means
	// 0.005.
	Margin float64
	// Confidence is that of every verdict, such as 0.95, which zero means. The chance that any path at all is ever called
	// different though it is not is at most 1-Confidence, however often one looks.
	Confidence float64
	// MaxPaths is how many paths are told apart, over all routes. Zero means 10,000; what comes later is counted under
	// "(more)".
	MaxPaths int
}

// Noise tells what differs between two backends from what differs whenever anybody asks twice. For that, the same request
// goes to the live backend, to it again as a twin, and to the shadow.
type Noise struct {
	cfg    NoiseConfig
	mu     sync.Mutex // guards all below
	routes map[string]*routeNoise
	paths  int
}

type routeNoise struct {
	requests int
	paths    map[string]*pathNoise
}

// pathNoise counts the requests on which there was a disagreement.
type pathNoise struct {
	twin, shadow, both int // of twin and shadow, both at once
	permuted           bool
}

// NewNoise returns a model without observations.
func NewNoise(cfg NoiseConfig) *Noise {
	if cfg.Margin == 0 {
		cfg.Margin = 0.005
	}
	if cfg.Confidence == 0 {
		cfg.Confidence = 0.95
	}
	if cfg.MaxPaths == 0 {
		cfg.MaxPaths = 10_000
	}
	return &Noise{cfg: cfg, routes: map[string]*routeNoise{}}
}

// Add takes what two comparisons of one request have found: of the live answer with the twin's, and with the shadow's.
func (n *Noise) Add(route string, twin, shadow *Outcome) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.routes[route]
	if r == nil {
		r = &routeNoise{paths: map[string]*pathNoise{}}
		n.routes[route] = r
	}
	r.requests++
	byTwin, byShadow := differing(twin), differing(shadow)
	for path, order := range byTwin {
		p := n.path(r, path)
		p.twin++
		p.permuted = p.permuted || order
		if _, also := byShadow[path]; also {
			p.both++
		}
	}
	for path := range byShadow {
		n.path(r, path).shadow++
	}
}

// differing returns the paths at which something differs, and whether that is an order.
func differing(o *Outcome) map[string]bool {
	paths := map[string]bool{}
	for _, d := range o.Differences {
		paths[d.Path] = paths[d.Path] || d.Kind == Order
	}
	if o.More > 0 {
		paths[more] = false
	}
	return paths
}

// more stands for all that is not told apart.
const more = "(more)"

func (n *Noise) path(r *routeNoise, path string) *pathNoise {
	p := r.paths[path]
	if p == nil && n.paths >= n.cfg.MaxPaths {
		path = more
		p = r.paths[path]
	}
	if p == nil {
		p = &pathNoise{}
		r.paths[path] = p
		n.paths++
	}
	return p
}

// State is what is known of a path.
type State string

// The states of a path.
const (
	IsNoise     State = "noise"     // the shadow disagrees as often as the live backend with itself
	IsDifferent State = "different" // it disagrees more often
	Undecided   State = "undecided"
)

// Verdict is what is known of a path of a route.
type Verdict struct {
	Route    string `json:"route"`
	Path     string `json:"path"`
	Requests int    `json:"requests"`
	Twin     int    `json:"twin"`   // requests on which the live backend disagreed with itself,
	Shadow   int    `json:"shadow"` // on which the shadow disagreed with it,
	Both     int    `json:"both"`   // and on which both did
	State    State  `json:"state"`
	// Excess is by how much more often the shadow disagrees, as a share of the requests. Each end holds with Confidence.
	Excess stat.Interval `json:"excess"`
	// Needed is how many more requests would decide, if they go on like those before; 0 when it is decided, and at most
	// MostNeeded.
	Needed int `json:"needed,omitempty"`
}

// MostNeeded is the largest Needed: so many requests or more.
const MostNeeded = 10_000_000

// Verdicts returns all paths of all routes on which there was any disagreement: different ones before undecided ones
// before noise.
func (n *Noise) Verdicts() []Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Verdict
	for route, r := range n.routes {
		for path, p := range r.paths {
			all = append(all, n.verdict(route, path, r.requests, p))
		}
	}
	rank := map[State]int{IsDifferent: 0, Undecided: 1, IsNoise: 2}
	slices.SortFunc(all, func(a, b Verdict) int {
		return cmp.Or(rank[a.State]-rank[b.State], cmp.Compare(a.Route, b.Route), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// Of returns the verdict of one path. It is undecided, with no requests, for one that never differed.
func (n *Noise) Of(route, path string) Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.routes[route]; r != nil && r.paths[path] != nil {
		return n.verdict(route, path, r.requests, r.paths[path])
	}
	return Verdict{Route: route, Path: path, State: Undecided}
}

// Permuted returns the paths of arrays which the live backend itself does not answer in one order, for Compare.
func (n *Noise) Permuted(route string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	if r := n.routes[route]; r != nil {
		for path, p := range r.paths {
			if p.permuted {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (n *Noise) verdict(route, path string, requests int, p *pathNoise) Verdict {
	v := Verdict{Route: route, Path: path, Requests: requests, Twin: p.twin, Shadow: p.shadow, Both: p.both}
	first, second := p.twin-p.both, p.shadow-p.both
	v.State, v.Excess = n.state(first, second, requests), n.excess(first, second, requests)
	if v.State == Undecided {
		v.Needed = n.needed(float64(first), float64(second), float64(requests))
	}
	return v
}

// state looks at the requests that tell something: those on which only the twin or only the shadow disagreed.
func (n *Noise) state(first, second, requests int) State {
	switch {
	case n.leans(first, second):
		return IsDifferent
	case roughHigh(float64(first), float64(second), float64(requests)) < 2*n.cfg.Margin &&
		n.excess(first, second, requests).High < n.cfg.Margin:
		return IsNoise
	}
	return Undecided
}

func (n *Noise) leans(first, second int) bool {
	return second > first && stat.Leaning(first, second) >= float64(max(1, n.paths))/(1-n.cfg.Confidence)
}

func (n *Noise) excess(first, second, requests int) stat.Interval {
	return stat.Excess(first, second, requests, 2*n.cfg.Confidence-1)
}

// roughHigh is about where the upper end of the excess lies.
func roughHigh(first, second, requests float64) float64 {
	excess := (second - first) / requests
	return excess + 2.1*math.Sqrt(max(0, (first+second)/requests-excess*excess)/requests) + 4/requests
}

// needed looks for the number of requests at which the same shares would decide.
func (n *Noise) needed(first, second, requests float64) int {
	decided := func(all float64) bool {
		by := all / requests
		return n.leans(int(first*by+0.5), int(second*by+0.5)) || roughHigh(first*by, second*by, all) < n.cfg.Margin
	}
	low, high := requests, 2*requests
	for !decided(high) {
		if low, high = high, 2*high; low > MostNeeded {
			return MostNeeded
		}
	}
	for high-low > 1 {
		if middle := math.Floor((low + high) / 2); decided(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return int(min(high-requests, MostNeeded))
}
