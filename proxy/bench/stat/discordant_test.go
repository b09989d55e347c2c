package stat

import (
	"math/rand/v2"
	"testing"
)

func TestExactSharesHaveThePublishedIntervals(t *testing.T) {
	i := Exact(4, 20, 0.95)
	near(t, "low of 4 of 20", i.Low, 0.0573, 1e-4)
	near(t, "high of 4 of 20", i.High, 0.4366, 1e-4)
	near(t, "high of none of 600", Exact(0, 600, 0.9).High, 0.00498, 1e-5) // the rule of three
	near(t, "low of 10 of 10", Exact(10, 10, 0.95).Low, 0.6915, 1e-4)
	many := Exact(500_000, 1_000_000, 0.95)
	near(t, "low of half of a million", many.Low, 0.49902, 1e-5)
	near(t, "high of half of a million", many.High, 0.50098, 1e-5)
	if i := Exact(0, 0, 0.95); i.Low != 0 || i.High != 1 {
		t.Errorf("no tries: %v, want all that is possible", i)
	}
}

// disagreements draws n occasions on which the first alone happens with a chance of p, the second alone with one of q.
func disagreements(r *rand.Rand, n int, p, q float64) (first, second int) {
	for range n {
		switch v := r.Float64(); {
		case v < p:
			first++
		case v < p+q:
			second++
		}
	}
	return first, second
}

func TestExcessHoldsTheTruth(t *testing.T) {
	for _, c := range []struct{ p, q float64 }{{0, 0}, {0.25, 0.25}, {0.02, 0.05}, {0, 0.01}, {0.3, 0.1}} {
		covered := 0
		for seed := range uint64(runs) {
			first, second := disagreements(rand.New(rand.NewPCG(seed, 5)), 300, c.p, c.q)
			if Excess(first, second, 300, 0.95).Contains(c.q - c.p) {
				covered++
			}
		}
		between(t, "coverage", share(covered), 0.95, 1)
	}
}

// Whoever looks after each request must not find more differences for it.
func TestLeaningMayBeLookedAt(t *testing.T) {
	alarms, found := 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 6))
		var same, other [2]int
		alarm := false
		for range 500 {
			same[r.IntN(2)]++
			if Leaning(same[0], same[1]) >= 20 {
				alarm = true
			}
		}
		for range 100 {
			first, second := disagreements(r, 1, 0.2, 0.8)
			other[0], other[1] = other[0]+first, other[1]+second
		}
		if alarm {
			alarms++
		}
		if Leaning(other[0], other[1]) >= 20 {
			found++
		}
	}
	between(t, "false alarms over all looks", share(alarms), 0, 0.05)
	between(t, "leanings of 4 to 1 found in 100", share(found), 0.99, 1)
}
