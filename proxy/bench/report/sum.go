package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

// sum is what the blocks of an arm have in common.
type sum struct {
	bench.ArmFacts
	load.Counts
	Blocks         int
	Seconds        float64 // that were measured
	Bytes          int64
	Opened, Reused int64
	Statuses       map[int]int64
	Wrong          map[string]int64 // faults and errors
	// Response and Lateness are merged for pictures and classic layouts; nothing is tested by them.
	Response, Lateness *load.Histogram
	CPU                time.Duration
	Looked             int // blocks in which somebody looked at what was used
	Memory, Peak       int64
	Processes          int
	Restarts, OOMKills int
	Source             string
}

// sums adds up the blocks of each arm. Controls count as requests and in nothing that is measured.
func sums(r *bench.Result) []*sum {
	all := make([]*sum, len(r.Arms))
	for i, facts := range r.Arms {
		all[i] = &sum{
			ArmFacts: facts, Statuses: map[int]int64{}, Wrong: map[string]int64{},
			Response: load.NewHistogram(), Lateness: load.NewHistogram(),
		}
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		s := all[b.Arm]
		s.count(b)
		if !b.Control {
			s.measure(b, (b.For - r.Settings.Discard).Seconds())
		}
	}
	return all
}

func (s *sum) count(b *bench.Block) {
	s.Blocks++
	s.Issued += b.Issued
	s.Good += b.Good
	s.Bad += b.Bad
	s.Hung += b.Hung
	s.Failed += b.Failed
	s.Opened += b.Opened
	s.Reused += b.Reused
	s.Lateness.Merge(b.Lateness)
	for status, n := range b.Statuses {
		s.Statuses[status] += n
	}
	for _, wrong := range []map[string]int64{b.Faults, b.Errors} {
		for what, n := range wrong {
			s.Wrong[what] += n
		}
	}
	if u := b.Usage; u != nil {
		s.Looked++
		s.CPU += u.CPU
		s.Memory, s.Peak = u.Memory, max(s.Peak, u.Memory)
		s.Processes, s.Source = u.Processes, u.Source
		s.Restarts += u.Restarts
		s.OOMKills += u.OOMKills
	}
}

func (s *sum) measure(b *bench.Block, seconds float64) {
	s.Seconds += max(seconds, 0)
	s.Bytes += b.Bytes
	s.Response.Merge(b.Response)
}

// rate is how many good answers there were in a measured second.
func (s *sum) rate() float64 {
	if s.Seconds == 0 {
		return 0
	}
	return float64(s.Response.Count()) / s.Seconds
}

// counts lists what happened how often, the most frequent first.
func counts(of map[string]int64) string {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), strings.Compare(a, b))
	})
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%s %s", key, thousands(of[key])))
	}
	return strings.Join(parts, ", ")
}

// facts lists a map by its keys.
func facts(of map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, key+" "+of[key])
	}
	return strings.Join(parts, ", ")
}
