package stat

import "math"

// Wilson is the interval of a share of which hits of n were seen. It holds for small n and for shares of nearly 0 or 1.
func Wilson(hits, n int, confidence float64) Interval {
	if n == 0 {
		return Interval{Low: 0, High: 1}
	}
	z := normalQuantile(1 - (1-confidence)/2)
	p, size := float64(hits)/float64(n), float64(n)
	middle := (p + z*z/(2*size)) / (1 + z*z/size)
	reach := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	i := Interval{p, max(0, middle-reach), min(1, middle+reach)}
	// Where all or none hit, the end is exact, whatever the rounding of the sums above.
	if hits == 0 {
		i.Low = 0
	}
	if hits == n {
		i.High = 1
	}
	return i
}

// Newcombe is the interval of the difference of two shares, the second less the first (his method 10, 1998).
func Newcombe(hits1, n1, hits2, n2 int, confidence float64) Interval {
	a, b := Wilson(hits1, n1, confidence), Wilson(hits2, n2, confidence)
	d := b.Estimate - a.Estimate
	return Interval{
		d,
		d - math.Hypot(b.Estimate-b.Low, a.High-a.Estimate),
		d + math.Hypot(b.High-b.Estimate, a.Estimate-a.Low),
	}
}
