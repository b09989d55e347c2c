package stat

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Trend is whether values that were measured one after the other rise or fall.
type Trend struct {
	// Slope is Theil's and Sen's, for each unit of x, with its interval.
	Slope Interval `json:"slope"`
	// P is the two-sided chance of as clear an order without a trend (Mann and Kendall).
	P float64 `json:"p"`
}

// FindTrend looks for a trend in at least four values y at the places x, which rise.
func FindTrend(x, y []float64, confidence float64) (Trend, bool) {
	n := len(x)
	if n < 4 || len(y) != n {
		return Trend{}, false
	}
	var slopes []float64
	s := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			s += sign(y[j] - y[i])
		}
	}
	slices.Sort(slopes)
	spread := kendallSpread(y)
	reach := normalQuantile(1-(1-confidence)/2) * spread
	all := float64(len(slopes))
	return Trend{
		Slope: Interval{median(slopes), slopes[rank((all-reach)/2, len(slopes))], slopes[rank((all+reach)/2, len(slopes))]},
		P:     kendallP(s, n, spread, hasTies(y)),
	}, true
}

func rank(at float64, n int) int { return min(max(int(math.Round(at)), 0), n-1) }

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

func hasTies(y []float64) bool {
	sorted := slices.Sorted(slices.Values(y))
	return len(slices.Compact(sorted)) < len(y)
}

// kendallSpread is the standard deviation of Kendall's sum where there is no trend.
func kendallSpread(y []float64) float64 {
	n := float64(len(y))
	variance := n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(y))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		ties := float64(j - i)
		variance -= ties * (ties - 1) * (2*ties + 5)
		i = j
	}
	return math.Sqrt(variance / 18)
}

// exactKendall is up to how many values all orders are counted: the normal distribution is wrong by much for few.
const exactKendall = 20

func kendallP(s, n int, spread float64, ties bool) float64 {
	if s == 0 || spread == 0 {
		return 1
	}
	if n <= exactKendall && !ties {
		return exactKendallP(s, n)
	}
	return normalTails((math.Abs(float64(s)) - 1) / spread)
}

// exactKendallP counts the orders of n values by their inversions.
func exactKendallP(s, n int) float64 {
	orders := []float64{1}
	for k := 2; k <= n; k++ {
		next := make([]float64, len(orders)+k-1)
		for i, count := range orders {
			for inversions := range k {
				next[i+inversions] += count
			}
		}
		orders = next
	}
	pairs := n * (n - 1) / 2
	all, far := 0.0, 0.0
	for inversions, count := range orders {
		all += count
		if sum := pairs - 2*inversions; max(sum, -sum) >= max(s, -s) {
			far += count
		}
	}
	return far / all
}

// Different is the two-sided p of Mann's and Whitney's test for two sets of blocks that are not paired; 1 when all
// values are equal or there are none.
func Different(first, second []float64) float64 {
	result, err := stats.MannWhitneyUTest(first, second, stats.LocationDiffers)
	if err != nil {
		return 1
	}
	return result.P
}
