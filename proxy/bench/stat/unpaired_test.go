package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two samples with the interval that is in the tables of Mann and Whitney: with 5 and 5, 2 of 25 differences are cut off at
// either end for 95 %.
func TestUnpairedRatio(t *testing.T) {
	first, second := []float64{1, 2, 4, 8, 16}, []float64{2, 4, 8, 16, 32}
	ratio, ok := Unpaired(first, second, 0.95)
	if !ok || math.Abs(ratio.Estimate-2) > 1e-9 || ratio.Low >= 1 || ratio.High <= 4 {
		t.Errorf("%+v, %v", ratio, ok)
	}
	if cut := cutOfU(5, 5, 0.025); cut != 3 {
		t.Errorf("cut = %d, want 3", cut)
	}
	if cut := cutOfU(12, 12, 0.025); cut != 38 {
		t.Errorf("cut = %d, want 38", cut)
	}
	if exact, near := cutOfU(50, 50, 0.025), cutOfU(51, 50, 0.025); near < exact || near > exact+30 {
		t.Errorf("with 50 blocks %d, with 51 %d", exact, near)
	}
	for _, few := range [][2][]float64{{nil, nil}, {{1, 2}, {1, 2}}, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 0}}} {
		if ratio, ok := Unpaired(few[0], few[1], 0.95); ok {
			t.Errorf("%v: %+v", few, ratio)
		}
	}
}

// The interval holds the true ratio as often as it says, whatever the noise is like.
func TestUnpairedIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 26))
	const runs, truth = 2000, 1.1
	hits := 0
	for range runs {
		var first, second []float64
		for range 10 {
			first = append(first, math.Exp(0.05*random.ExpFloat64()))
			second = append(second, truth*math.Exp(0.05*random.ExpFloat64()))
		}
		if ratio, ok := Unpaired(first, second, 0.95); ok && ratio.Contains(truth) {
			hits++
		}
	}
	if share := float64(hits) / runs; share < 0.935 || share > 0.975 {
		t.Errorf("covered in %.3f of the runs", share)
	}
}
