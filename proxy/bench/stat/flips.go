package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	exactPairs = 16     // up to here all arrangements of signs are tried
	drawn      = 20_000 // beyond, so many are drawn
)

// flips is the sign-flip test: were there no difference, each pair could as well have come out the other way round.
type flips struct {
	d     []float64
	sums  []float64 // of d, in each arrangement of signs
	net   []float64 // how many pairs more than the others keep their sign
	exact bool
}

// newFlips arranges the signs of at most 64 pairs.
func newFlips(d []float64, seed uint64) *flips {
	f := &flips{d: d, exact: len(d) <= exactPairs}
	size := drawn
	if f.exact {
		size = 1 << len(d)
	}
	f.sums, f.net = make([]float64, 0, size), make([]float64, 0, size)
	if f.exact {
		for signs := range uint64(1) << len(d) {
			f.arrange(signs)
		}
		return f
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range drawn {
		f.arrange(r.Uint64())
	}
	return f
}

// arrange adds the arrangement in which the pairs are turned round whose bits are set.
func (f *flips) arrange(signs uint64) {
	sum, net := 0.0, 0.0
	for i, v := range f.d {
		if signs&(1<<i) != 0 {
			sum, net = sum-v, net-1
		} else {
			sum, net = sum+v, net+1
		}
	}
	f.sums, f.net = append(f.sums, sum), append(f.net, net)
}

// p is the share of arrangements whose sum is as far from zero as that of d, when each of d is less by shift.
func (f *flips) p(shift float64) float64 {
	sum := 0.0
	for _, v := range f.d {
		sum += v - shift
	}
	// A sum is compared with itself, added up in another way.
	far := math.Abs(sum) - 1e-12*(math.Abs(sum)+math.Abs(shift))
	count := 0
	for i, s := range f.sums {
		if math.Abs(s-shift*f.net[i]) >= far {
			count++
		}
	}
	if f.exact {
		return float64(count) / float64(len(f.sums))
	}
	// What was seen is one arrangement more; otherwise p could be 0.
	return float64(count+1) / float64(len(f.sums)+1)
}

// interval holds the shifts that the test does not reject at 1-confidence.
func (f *flips) interval(confidence float64) Interval {
	mean, sd := moments(f.d)
	alpha := 1 - confidence
	edge := func(direction float64) float64 {
		inside, outside := mean, mean+direction*sd
		for range 60 {
			if f.p(outside) < alpha {
				break
			}
			outside += direction * sd
		}
		for range 40 {
			middle := (inside + outside) / 2
			if f.p(middle) < alpha {
				outside = middle
			} else {
				inside = middle
			}
		}
		return outside
	}
	if sd == 0 {
		return Interval{mean, mean, mean}
	}
	return Interval{mean, edge(-1), edge(1)}
}

// ascending returns the indices of values in the order of their size.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}
