package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s = %g, want %g", what, got, want)
	}
}

func TestStudentsIntervalIsThatOfTheTables(t *testing.T) {
	near(t, "t(0.975, 11)", tQuantile(0.975, 11), 2.200985, 1e-5)
	near(t, "t(0.8, 5)", tQuantile(0.8, 5), 0.919544, 1e-5)
	near(t, "z(0.975)", normalQuantile(0.975), 1.959964, 1e-5)
	i := meanInterval([]float64{1, 2, 3, 4, 5, 6}, 0.95)
	near(t, "estimate", i.Estimate, 3.5, 1e-12)
	near(t, "low", i.Low, 3.5-1.963314, 1e-5)
}

// A. Agresti's and Newcombe's own examples.
func TestSharesHaveThePublishedIntervals(t *testing.T) {
	w := Wilson(81, 263, 0.95)
	near(t, "Wilson low", w.Low, 0.2553, 1e-4)
	near(t, "Wilson high", w.High, 0.3662, 1e-4)
	n := Newcombe(48, 80, 56, 70, 0.95)
	near(t, "Newcombe low", n.Low, 0.0524, 1e-4)
	near(t, "Newcombe high", n.High, 0.3339, 1e-4)
	if w := Wilson(0, 0, 0.95); w.Low != 0 || w.High != 1 {
		t.Errorf("no tries: %v, want all that is possible", w)
	}
	if w := Wilson(0, 10, 0.95); w.Low != 0 || w.High < 0.2 || w.High > 0.35 {
		t.Errorf("0 of 10: %v", w)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "corrected p", got[i], want, 1e-12)
	}
}

func TestFlipsOfPairsThatAllGoOneWay(t *testing.T) {
	f := newFlips([]float64{1, 2, 3, 4, 5, 6}, 1)
	near(t, "p", f.p(0), 2.0/64, 1e-12) // of all arrangements, this one and its mirror image
	near(t, "p at the mean", f.p(3.5), 1, 1e-12)
	i := f.interval(0.9)
	if f.p(i.Low) >= 0.1 || f.p(i.High) >= 0.1 || f.p(i.Low+1e-6) < 0.1 {
		t.Errorf("interval %v does not end where the test rejects", i)
	}
}

func TestManyPairsAreDrawnFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d := make([]float64, 30)
	for i := range d {
		d[i] = 0.3 + r.NormFloat64()
	}
	exactEnough := newFlips(d, 7).p(0)
	near(t, "p of another draw", newFlips(d, 8).p(0), exactEnough, 0.02)
	if p := newFlips(make([]float64, 20), 1).p(0); p != 1 {
		t.Errorf("no difference at all: p = %g", p)
	}
}

func TestQuantileRanks(t *testing.T) {
	low, high, ok := QuantileRanks(100, 0.5, 0.95)
	if !ok || low != 39 || high != 60 {
		t.Errorf("median of 100: ranks %d and %d, %v; want 39 and 60", low, high, ok)
	}
	if _, _, ok := QuantileRanks(100, 0.99, 0.95); ok {
		t.Error("100 samples have no upper bound for their 99th percentile")
	}
	if Beyond(2000, 0.99) != 20 {
		t.Errorf("Beyond(2000, 0.99) = %d", Beyond(2000, 0.99))
	}
}

func TestTrend(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5}
	rising, ok := FindTrend(x, []float64{1, 3, 5, 7, 9, 11}, 0.95)
	if !ok {
		t.Fatal("no trend of six values")
	}
	near(t, "slope", rising.Slope.Estimate, 2, 1e-12)
	near(t, "p of six in order", rising.P, 2.0/720, 1e-12)
	flat, _ := FindTrend(x, []float64{1, 1, 1, 1, 1, 1}, 0.95)
	near(t, "p of equal values", flat.P, 1, 0)
	if _, ok := FindTrend(x[:3], x[:3], 0.95); ok {
		t.Error("a trend of three values")
	}
	// Beyond exactKendall the normal distribution takes over, without a jump.
	near(t, "p", normalTails((100-1)/kendallSpread(sequence(21))), exactKendallP(100, 21), 1e-3)
}

func sequence(n int) (s []float64) {
	for i := range n {
		s = append(s, float64(i))
	}
	return s
}

func TestCompareRefusesWhatIsNoComparison(t *testing.T) {
	six := []float64{1, 1, 1, 1, 1, 1}
	if _, err := Compare(six[:5], six[:5], 0.95, 1); !errors.Is(err, ErrFewPairs) {
		t.Errorf("five pairs: %v", err)
	}
	for _, bad := range [][]float64{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, -1}, {1, 1, 1, 1, 1, math.NaN()}} {
		if c, err := Compare(six, bad, 0.95, 1); err == nil {
			t.Errorf("%v: %+v", bad, c)
		}
	}
	same, err := Compare(six, six, 0.95, 1)
	if err != nil || same.Ratio.Estimate != 1 || same.P != 1 || !same.Agree || !Equivalent(same.Ratio, 0.05) {
		t.Errorf("%+v, %v", same, err)
	}
}

func TestEquivalentNeedsTheWholeInterval(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      bool
	}{{0.96, 1.04, true}, {0.94, 1.01, false}, {0.99, 1.06, false}, {1.01, 1.03, true}} {
		if got := Equivalent(Interval{1, c.low, c.high}, 0.05); got != c.want {
			t.Errorf("%g to %g: %v", c.low, c.high, got)
		}
	}
}

func TestDifferent(t *testing.T) {
	if p := Different([]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}); p > 0.01 {
		t.Errorf("apart: p = %g", p)
	}
	if p := Different([]float64{1, 1}, []float64{1, 1}); p != 1 {
		t.Errorf("equal: p = %g", p)
	}
}
