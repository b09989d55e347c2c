package stat

import "math"

// Sequence is a test that may be looked at after every pair and stopped as soon as it shows something. A test for a
// fixed number of pairs that is looked at again and again finds a difference sooner or later, whether there is one or
// not. The zero value is not usable; see NewSequence.
type Sequence struct {
	alpha, tau float64
	n          int
	mean, m2   float64 // Welford's
	p          float64
	low, high  float64
}

// fewestOfSequence is how many pairs a variance is taken from before it is believed.
const fewestOfSequence = FewestPairs

// NewSequence returns a test for the logarithms of ratios. Its false alarms, over all looks, are at most alpha; tau is
// the size of difference that it is keenest to find: 0.05 is 5 %.
func NewSequence(alpha, tau float64) *Sequence {
	return &Sequence{alpha: alpha, tau: tau, p: 1, low: math.Inf(-1), high: math.Inf(1)}
}

// Add takes the next pair's logarithm of a ratio.
func (s *Sequence) Add(d float64) {
	s.n++
	before := d - s.mean
	s.mean += before / float64(s.n)
	s.m2 += before * (d - s.mean)
	if s.n < fewestOfSequence || s.m2 == 0 {
		return
	}
	n := float64(s.n)
	// The variance is estimated; Student's wider tails are made up for by its upper limit.
	variance := s.m2 / (n - 1) * widening(s.n)
	tau2 := s.tau * s.tau
	// The mixture's likelihood ratio against a mean of 0 (Robbins 1970; Johari and others 2017).
	ratio := math.Sqrt(variance/(variance+n*tau2)) *
		math.Exp(n*n*tau2*s.mean*s.mean/(2*variance*(variance+n*tau2)))
	s.p = min(s.p, 1/ratio)
	reach := math.Sqrt(variance * (variance + n*tau2) / (n * n * tau2) *
		(2*math.Log(1/s.alpha) + math.Log((variance+n*tau2)/variance)))
	s.low, s.high = max(s.low, s.mean-reach), min(s.high, s.mean+reach)
}

// widening is by how much a variance of n values may be too small.
func widening(n int) float64 {
	t, z := tQuantile(0.995, n-1), normalQuantile(0.995)
	return t * t / (z * z)
}

// P is valid at any look: the chance that it ever falls below alpha without a difference is at most alpha.
func (s *Sequence) P() float64 { return s.p }

// Interval is one that holds at all looks together. Its ends are infinite before there are enough pairs.
func (s *Sequence) Interval() Interval { return Interval{s.mean, s.low, s.high} }

// Pairs is how many were added.
func (s *Sequence) Pairs() int { return s.n }
