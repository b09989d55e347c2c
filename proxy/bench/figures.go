package bench

import (
	"errors"
	"fmt"
	"slices"

	"gateway/proxy/bench/stat"
)

// measure is one of the headline figures: how it is read off a block. ok is false where the block does not say.
type measure struct {
	name, unit string
	of         func(b *Block, discard float64) (v float64, ok bool)
	quantile   float64 // of the response times; 0 for other measures
}

func quantileOf(name string, q float64) measure {
	return measure{name, "ns", func(b *Block, _ float64) (float64, bool) {
		v := b.Response.Quantile(q)
		return float64(v), v > 0
	}, q}
}

// measures are the headline family, corrected together. In an open loop the throughput is what was asked for, and shows
// nothing.
func measures(s Settings) []measure {
	all := []measure{quantileOf("p50", 0.5), quantileOf("p95", 0.95), quantileOf("p99", 0.99)}
	if s.Closed > 0 {
		all = append(all, measure{name: "throughput", unit: "1/s", of: func(b *Block, discard float64) (float64, bool) {
			seconds := b.For.Seconds() - discard
			return float64(b.Good) / seconds, seconds > 0 && b.Good > 0
		}})
	}
	return append(all,
		measure{name: "cpu_per_request", unit: "ns", of: func(b *Block, _ float64) (float64, bool) {
			// The CPU time is that of the whole block, with the requests of its start.
			good := b.Good + b.Warmup.Good
			if b.Usage == nil || good == 0 || b.Usage.CPU <= 0 {
				return 0, false
			}
			return float64(b.Usage.CPU) / float64(good), true
		}},
		measure{name: "memory", unit: "bytes", of: func(b *Block, _ float64) (float64, bool) {
			if b.Usage == nil || b.Usage.Memory <= 0 {
				return 0, false
			}
			return float64(b.Usage.Memory), true
		}})
}

// compute fills in the figures from the blocks.
func (r *Result) compute() {
	r.Figures = nil
	var tested []int
	var p []float64
	for _, m := range measures(r.Settings) {
		f := r.figure(m)
		if f.Compared != nil {
			tested, p = append(tested, len(r.Figures)), append(p, f.Compared.P)
		}
		r.Figures = append(r.Figures, f)
	}
	for i, corrected := range stat.Holm(p) {
		r.Figures[tested[i]].PHolm = corrected
	}
}

func (r *Result) figure(m measure) Figure {
	f := Figure{Name: m.name, Unit: m.unit}
	if f.Empty = r.tooFew(m); f.Empty != "" {
		return f
	}
	for arm := range r.Arms {
		values := r.values(m, func(b *Block) bool { return b.Arm == arm && !b.Control })
		if len(values) == 0 {
			f.Of, f.Empty = nil, "not known of "+r.Arms[arm].Name
			return f
		}
		f.Of = append(f.Of, spreadOf(values))
	}
	if len(r.Arms) != 2 {
		return f
	}
	_, first, second := r.pairs(m, false)
	compared, err := stat.Compare(first, second, r.Settings.Confidence, r.Seed)
	switch {
	case errors.Is(err, stat.ErrFewPairs):
		f.Empty = fmt.Sprintf("%d whole pairs; a comparison needs %d", len(first), FewestPairs)
	case err != nil:
		f.Empty = err.Error()
	default:
		f.Compared = &compared
	}
	return f
}

// tooFew says why a quantile may not be printed: too few samples lie beyond it in some block (V10).
func (r *Result) tooFew(m measure) string {
	if m.quantile == 0 {
		return ""
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if beyond := stat.Beyond(int(b.Response.Count()), m.quantile); beyond < stat.FewestBeyond {
			need := int(float64(stat.FewestBeyond)/(1-m.quantile) + 0.5)
			return fmt.Sprintf("a block has %d good answers; %s needs %d", b.Response.Count(), m.name, need)
		}
	}
	return ""
}

func (r *Result) values(m measure, which func(*Block) bool) (values []float64) {
	for i := range r.Blocks {
		if b := &r.Blocks[i]; which(b) {
			if v, ok := m.of(b, r.Settings.Discard.Seconds()); ok {
				values = append(values, v)
			}
		}
	}
	return values
}

// pairs returns what both blocks of each whole pair say, by arm or for controls by position, and the numbers of those pairs.
func (r *Result) pairs(m measure, control bool) (whole []int, first, second []float64) {
	type pair [2]float64
	found := map[int]*pair{}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Control != control {
			continue
		}
		v, ok := m.of(b, r.Settings.Discard.Seconds())
		if !ok {
			continue
		}
		if found[b.Pair] == nil {
			found[b.Pair] = new(pair)
		}
		side := b.Arm
		if control {
			side = b.Position
		}
		found[b.Pair][side] = v
	}
	var numbers []int
	for n := range found {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if p := found[n]; p[0] > 0 && p[1] > 0 {
			whole, first, second = append(whole, n), append(first, p[0]), append(second, p[1])
		}
	}
	return whole, first, second
}

func spreadOf(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}
