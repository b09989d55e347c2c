package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noise is what two blocks measure of the same thing: a machine that drifts and wanders, and noise of their own. All
// simulations here have their seeds in the code, so that a figure that fails a test can be had again.
type noise struct {
	r     *rand.Rand
	drift float64
	walk  float64
}

func newNoise(seed uint64) *noise {
	r := rand.New(rand.NewPCG(seed, 42))
	return &noise{r: r, drift: 0.08 * (r.Float64() - 0.5)}
}

// pairs measures n pairs of blocks, in an order that is drawn for each, where the second arm takes ratio times as long.
func (m *noise) pairs(n int, ratio float64) (first, second []float64) {
	for i := range n {
		turned := m.r.IntN(2) == 1
		var pair [2]float64
		for j := range pair {
			m.walk += 0.007 * m.r.NormFloat64()
			at := float64(2*i+j) / float64(2*n)
			second := (j == 1) != turned
			v := math.Log(10) + m.drift*at + m.walk + 0.02*m.r.NormFloat64()
			if second {
				v += math.Log(ratio)
				pair[1] = math.Exp(v)
			} else {
				pair[0] = math.Exp(v)
			}
		}
		first, second = append(first, pair[0]), append(second, pair[1])
	}
	return first, second
}

const (
	runs = 1000
	some = 200 // where each is dear
)

func share(count int) float64 { return float64(count) / runs }

func between(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	t.Logf("%s: %.3f", what, got)
	if got < low || got > high {
		t.Errorf("%s = %.3f, want %.3f to %.3f", what, got, low, high)
	}
}

// Two arms that are the same give a false alarm as often as the level says, and the interval holds the truth as often
// as it says.
func TestSameArmsAreRarelyFoundDifferent(t *testing.T) {
	alarms, covered, shown := 0, 0, 0
	for seed := range uint64(runs) {
		first, second := newNoise(seed).pairs(12, 1)
		c, err := Compare(first, second, 0.95, seed)
		if err != nil {
			t.Fatal(err)
		}
		if c.P < 0.05 {
			alarms++
		}
		if c.Ratio.Contains(1) {
			covered++
		}
		if c.P < 0.05 && c.Agree && !c.Ratio.Contains(1) {
			shown++
		}
	}
	between(t, "false alarms of the sign flips", share(alarms), 0.03, 0.07)
	between(t, "coverage of the interval", share(covered), 0.93, 0.97)
	between(t, "false winners", share(shown), 0.02, 0.07)
}

func TestIntervalHoldsTheTrueRatio(t *testing.T) {
	for _, n := range []int{6, 12, 30} {
		covered, flips := 0, 0
		for seed := range uint64(some) {
			first, second := newNoise(1000+seed).pairs(n, 1.3)
			c, err := Compare(first, second, 0.95, seed)
			if err != nil {
				t.Fatal(err)
			}
			if c.Ratio.Contains(1.3) {
				covered++
			}
			if c.Flip.Contains(1.3) {
				flips++
			}
		}
		// So few runs have a standard error of 1.5 points.
		between(t, "coverage of t", float64(covered)/some, 0.91, 0.99)
		between(t, "coverage of the flips", float64(flips)/some, 0.91, 1)
	}
}

func TestThreePercentAreFound(t *testing.T) {
	found, promised := 0, 0
	for seed := range uint64(some) {
		first, second := newNoise(5000+seed).pairs(30, 1.03)
		c, err := Compare(first, second, 0.95, seed)
		if err != nil {
			t.Fatal(err)
		}
		if c.P < 0.05 && c.Ratio.Low > 1 {
			found++
		}
		if c.Detectable <= 0.03 {
			promised++
		}
	}
	between(t, "3 % found", float64(found)/some, 0.95, 1)
	between(t, "3 % said to be detectable", float64(promised)/some, 0.95, 1)
}

// Whoever looks after each pair must not find a difference more often for it.
func TestSequenceMayBeLookedAt(t *testing.T) {
	alarms, missed, covered := 0, 0, 0
	for seed := range uint64(runs) {
		m := rand.New(rand.NewPCG(seed, 3))
		same, other := NewSequence(0.05, 0.05), NewSequence(0.05, 0.05)
		alarm, inside := false, true
		for range 30 {
			same.Add(0.03 * m.NormFloat64())
			other.Add(0.06 + 0.03*m.NormFloat64())
			alarm = alarm || same.P() < 0.05
			inside = inside && same.Interval().Contains(0)
		}
		if alarm {
			alarms++
		}
		if inside {
			covered++
		}
		if other.P() >= 0.05 {
			missed++
		}
	}
	between(t, "false alarms over all looks", share(alarms), 0, 0.05)
	between(t, "intervals that always hold 0", share(covered), 0.95, 1)
	between(t, "6 % missed after 30 pairs", share(missed), 0, 0.05)
}

func TestTrendOfNoiseIsRarelyFound(t *testing.T) {
	alarms, found := 0, 0
	for seed := range uint64(runs) {
		m := rand.New(rand.NewPCG(seed, 4))
		var x, flat, rising []float64
		for i := range 12 {
			v := m.NormFloat64()
			x, flat, rising = append(x, float64(i)), append(flat, v), append(rising, v+float64(i)/3)
		}
		if trend, _ := FindTrend(x, flat, 0.95); trend.P < 0.05 {
			alarms++
		}
		if trend, _ := FindTrend(x, rising, 0.95); trend.P < 0.05 && trend.Slope.Low > 0 {
			found++
		}
	}
	between(t, "false trends", share(alarms), 0.03, 0.065)
	between(t, "trends found", share(found), 0.9, 1)
}
