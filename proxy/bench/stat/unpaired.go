package stat

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
)

// exactBlocks is up to how many blocks on either side the distribution of Mann's and Whitney's U is taken as it is.
const exactBlocks = 50

// Unpaired is the ratio of two sets of blocks that are not paired, the second over the first, by Hodges and Lehmann: the
// median of all ratios, with the interval in which Mann's and Whitney's test rejects no ratio. ok is false where there are
// too few blocks for that confidence, or one is not above 0.
func Unpaired(first, second []float64, confidence float64) (ratio Interval, ok bool) {
	all := len(first) * len(second)
	cut := cutOfU(len(first), len(second), (1-confidence)/2)
	if cut < 1 {
		return Interval{}, false
	}
	d := make([]float64, 0, all)
	for _, a := range first {
		for _, b := range second {
			if !(a > 0 && b > 0) {
				return Interval{}, false
			}
			d = append(d, math.Log(b)-math.Log(a))
		}
	}
	slices.Sort(d)
	return Interval{median(d), d[cut-1], d[all-cut]}.Exp(), true
}

// cutOfU says which of the sorted ratios, counted from 1 on from either side, are the ends of the interval. It is 0 where even
// the outermost are too near.
func cutOfU(n, m int, tail float64) int {
	if n == 0 || m == 0 {
		return 0
	}
	if n > exactBlocks || m > exactBlocks {
		size := float64(n) * float64(m)
		reach := normalQuantile(1-tail) * math.Sqrt(size*float64(n+m+1)/12)
		return max(0, int(size/2-reach))
	}
	u := stats.UDist{N1: n, N2: m}
	return sort.Search(n*m/2, func(below int) bool { return u.CDF(float64(below)) > tail })
}
