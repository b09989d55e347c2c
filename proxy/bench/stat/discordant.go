package stat

import "math"

// Exact is the interval of a share of which hits of n were seen (Clopper and Pearson 1934). It holds for certain where
// Wilson's holds on average, and is wider for that.
func Exact(hits, n int, confidence float64) Interval {
	i := Interval{0, 0, 1}
	if n == 0 {
		return i
	}
	tail := (1 - confidence) / 2
	k, all := float64(hits), float64(n)
	i.Estimate = k / all
	if hits > 0 {
		// The chance of at least so many hits rises with the share.
		i.Low = crossing(func(p float64) bool { return betaShare(p, k, all-k+1) < tail })
	}
	if hits < n {
		i.High = crossing(func(p float64) bool { return betaShare(p, k+1, all-k) < 1-tail })
	}
	return i
}

// crossing finds the share up to which below holds.
func crossing(below func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// betaShare is the share of the beta distribution below x. moremath has it as well, and panics for thousands of tries.
func betaShare(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(1, max(0, math.Floor(x)))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaLow(1-x, b, a) // where the fraction converges soon
	}
	return betaLow(x, a, b)
}

func betaLow(x, a, b float64) float64 {
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	return math.Exp(gab-ga-gb+a*math.Log(x)+b*math.Log1p(-x)) / a * betaFraction(x, a, b)
}

// betaFraction is the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's way.
func betaFraction(x, a, b float64) float64 {
	away := func(v float64) float64 {
		if math.Abs(v) < 1e-300 {
			return 1e-300
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	value := d
	for m, last := 1.0, 200+20*math.Sqrt(max(a, b)); m < last; m++ {
		change := 1.0
		for _, k := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d, c = 1/away(1+k*d), away(1+k/c)
			change = c * d
			value *= change
		}
		if math.Abs(change-1) < 1e-14 {
			break
		}
	}
	return value
}

// Excess is by how much more often the second of two things happened than the first, of n occasions for both: first and
// second count those on which it happened alone. Both the share of such occasions and how they are divided are bounded
// exactly (McNemar's pairs), so that the interval holds for the fewest of them.
func Excess(first, second, n int, confidence float64) Interval {
	each := (1 + confidence) / 2 // two bounds that both hold
	often := Exact(first+second, n, each)
	lean := Exact(second, first+second, each)
	by := func(lean float64, more, less float64) float64 {
		if lean = 2*lean - 1; lean > 0 {
			return more * lean
		}
		return less * lean
	}
	return Interval{
		Estimate: float64(second-first) / math.Max(1, float64(n)),
		Low:      by(lean.Low, often.Low, often.High),
		High:     by(lean.High, often.High, often.Low),
	}
}

// Leaning is the evidence that of two things that happened alone, first and second times, one does so more often: by how
// much more likely an unknown leaning makes the counts than none. It may be looked at after each occasion: the chance that
// it ever reaches 1/alpha while there is no leaning is at most alpha (Ville 1939).
func Leaning(first, second int) float64 {
	a, _ := math.Lgamma(float64(first) + 1)
	b, _ := math.Lgamma(float64(second) + 1)
	all, _ := math.Lgamma(float64(first+second) + 2)
	return math.Exp(a + b - all + float64(first+second)*math.Ln2)
}
