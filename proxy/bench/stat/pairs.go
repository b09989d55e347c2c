// Package stat says what measurements show and what they do not. The unit is a block or a pair of blocks, never a
// request: requests of one block are not independent, and a test that takes them for it finds differences everywhere.
package stat

import (
	"errors"
	"fmt"
	"math"
)

// Interval is a range with an estimate in it.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Contains says whether v lies in the interval, its ends included.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Exp turns an interval of logarithms into one of ratios.
func (i Interval) Exp() Interval {
	return Interval{math.Exp(i.Estimate), math.Exp(i.Low), math.Exp(i.High)}
}

// FewestPairs is what a comparison needs: with fewer, no arrangement of signs is rarer than 3 in 100.
const FewestPairs = 6

// ErrFewPairs is returned for less than FewestPairs.
var ErrFewPairs = errors.New("too few pairs")

// Comparison is what the pairs of two arms show about one figure.
type Comparison struct {
	Pairs int `json:"pairs"`
	// Ratio is the second arm's figure over the first's, with its interval by Student's t on the logarithms.
	Ratio Interval `json:"ratio"`
	// P is the share of sign arrangements that are as far from no difference as what was seen, in 0 to 1.
	P float64 `json:"p"`
	// Flip is the interval that the arrangements give, which assumes no normal distribution.
	Flip Interval `json:"flip"`
	// Agree says that both intervals say the same about a difference. Where they do not, nothing is shown.
	Agree bool `json:"agree"`
	// Detectable is the least change that as many pairs, as noisy, would have found in 4 of 5 runs: 0.02 is 2 %.
	Detectable float64 `json:"detectable"`
}

// Compare compares two arms by their pairs: first[i] and second[i] were measured close to each other. confidence is
// that of the intervals, such as 0.95. seed draws the arrangements where there are too many to try all of them.
func Compare(first, second []float64, confidence float64, seed uint64) (Comparison, error) {
	d, err := logRatios(first, second)
	if err != nil {
		return Comparison{}, err
	}
	t := meanInterval(d, confidence)
	flips := newFlips(d, seed)
	flip := flips.interval(confidence)
	return Comparison{
		Pairs: len(d), Ratio: t.Exp(), P: flips.p(0), Flip: flip.Exp(),
		Agree:      t.Contains(0) == flip.Contains(0),
		Detectable: math.Exp(detectable(d, 1-confidence)) - 1,
	}, nil
}

func logRatios(first, second []float64) ([]float64, error) {
	if len(first) != len(second) {
		return nil, fmt.Errorf("%d figures of one arm and %d of the other make no pairs", len(first), len(second))
	}
	if len(first) < FewestPairs {
		return nil, fmt.Errorf("%w: %d, want at least %d", ErrFewPairs, len(first), FewestPairs)
	}
	d := make([]float64, len(first))
	for i := range d {
		d[i] = math.Log(second[i]) - math.Log(first[i])
		if math.IsNaN(d[i]) || math.IsInf(d[i], 0) {
			return nil, fmt.Errorf("pair %d: %g and %g have no ratio", i+1, first[i], second[i])
		}
	}
	return d, nil
}

// meanInterval is Student's, for the mean of d.
func meanInterval(d []float64, confidence float64) Interval {
	mean, sd := moments(d)
	reach := tQuantile(1-(1-confidence)/2, len(d)-1) * sd / math.Sqrt(float64(len(d)))
	return Interval{mean, mean - reach, mean + reach}
}

// detectable is the least mean that a test at level alpha finds with power 0.8 when the noise is that of d.
func detectable(d []float64, alpha float64) float64 {
	_, sd := moments(d)
	free := len(d) - 1
	return (tQuantile(1-alpha/2, free) + tQuantile(0.8, free)) * sd / math.Sqrt(float64(len(d)))
}

// moments returns the mean and the standard deviation of at least two values.
func moments(d []float64) (mean, sd float64) {
	for _, v := range d {
		mean += v
	}
	mean /= float64(len(d))
	for _, v := range d {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(d)-1))
}

// Equivalent says whether a ratio is shown to be within margin of 1, such as 0.05: its whole interval is. "No difference"
// may be said only then; an interval that merely contains 1 shows nothing.
func Equivalent(ratio Interval, margin float64) bool {
	return ratio.Low >= 1-margin && ratio.High <= 1+margin
}

// Holm corrects the p values of a family of tests, so that the chance of any false alarm among them stays at the level
// of one. The order is kept.
func Holm(p []float64) []float64 {
	order := ascending(p)
	corrected := make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(p)-rank)*p[i]))
		corrected[i] = least
	}
	return corrected
}
