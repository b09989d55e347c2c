package load

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// timeline counts by the second in which answers end. It keeps the times of the second under way only, so that a block of
// hours takes no more than one of seconds, but for a few numbers each.
type timeline struct {
	mu      sync.Mutex // guards what follows
	now     *Histogram
	seconds []Second
}

func (l *timeline) init() { l.now, l.seconds = newHistogram(coarse), []Second{{}} }

func (l *timeline) started(at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(at)
	l.seconds[len(l.seconds)-1].Started++
}

func (l *timeline) add(end, response time.Duration, good bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(end)
	second := &l.seconds[len(l.seconds)-1]
	if !good {
		second.Other++
		return
	}
	second.Good++
	l.now.Record(response)
}

// advance begins further seconds up to the one of at. Who comes a little late is counted in the second under way.
func (l *timeline) advance(at time.Duration) {
	for int(at/time.Second) >= len(l.seconds) {
		l.settle()
		l.seconds = append(l.seconds, Second{})
	}
}

func (l *timeline) settle() {
	second := &l.seconds[len(l.seconds)-1]
	second.P50, second.P99 = l.now.Quantile(0.5), l.now.Quantile(0.99)
	l.now.reset()
}

func (l *timeline) done() []Second {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	return slices.Clone(l.seconds)
}

// last is the last whole second, for those who watch.
func (l *timeline) last() (s Second, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seconds) < 2 {
		return Second{}, false
	}
	return l.seconds[len(l.seconds)-2], true
}

const (
	mostConns    = 512 // whose times are kept apart
	fewestOfConn = 20  // answers that make a median
)

// connections keeps the service times of each connection, some of them.
type connections struct {
	mu    sync.Mutex // guards times
	times map[uint64]*sampled
}

// sampled is a reservoir: each of all that came is in it with the same chance.
type sampled struct {
	n    int
	kept [64]time.Duration
}

func (c *connections) add(conn uint64, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.times[conn]
	if s == nil {
		if len(c.times) == mostConns {
			return
		}
		if c.times == nil {
			c.times = map[uint64]*sampled{}
		}
		s = new(sampled)
		c.times[conn] = s
	}
	if s.n < len(s.kept) {
		s.kept[s.n] = took
	} else if at := spread(uint64(s.n)) % uint64(s.n+1); at < uint64(len(s.kept)) {
		s.kept[at] = took
	}
	s.n++
}

// spread makes of one number another that looks like none in particular.
func spread(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func (c *connections) medians() (medians []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.times {
		if s.n >= fewestOfConn {
			kept := slices.Clone(s.kept[:min(s.n, len(s.kept))])
			slices.SortFunc(kept, cmp.Compare)
			medians = append(medians, kept[len(kept)/2])
		}
	}
	slices.Sort(medians)
	return medians
}
