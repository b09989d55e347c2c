package stat

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// tQuantile is the point below which Student's distribution with that many degrees of freedom has the share q.
func tQuantile(q float64, free int) float64 {
	return stats.InvCDF(stats.TDist{V: float64(free)})(q)
}

func normalQuantile(q float64) float64 { return stats.InvCDF(stats.StdNormal)(q) }

func normalTails(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// Beyond is how many of n samples lie beyond their quantile q.
func Beyond(n int, q float64) int { return int(float64(n) * (1 - q)) }

// FewestBeyond is how many samples must lie beyond a quantile before it may be printed: the interval of one that
// rests on fewer is as wide as the figure itself.
const FewestBeyond = 20

// QuantileRanks returns the ranks, from 0 on, of the two samples of n sorted ones between which the quantile q of their
// distribution lies with at least that confidence. ok is false when n is too small for that.
func QuantileRanks(n int, q, confidence float64) (low, high int, ok bool) {
	if n < 1 || q <= 0 || q >= 1 {
		return 0, 0, false
	}
	tail := (1 - confidence) / 2
	// The number of samples below the quantile is binomial.
	below := 0.0
	low, high = -1, -1
	for k := 0; k <= n; k++ {
		at := binomial(n, k, q)
		if below+at > tail && low < 0 {
			low = k - 1
		}
		below += at
		if below >= 1-tail {
			high = k
			break
		}
	}
	return low, high, low >= 0 && high >= 0 && high < n
}

// binomial is the chance of k successes in n tries.
func binomial(n, k int, p float64) float64 {
	all, _ := math.Lgamma(float64(n) + 1)
	in, _ := math.Lgamma(float64(k) + 1)
	out, _ := math.Lgamma(float64(n-k) + 1)
	return math.Exp(all - in - out + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
