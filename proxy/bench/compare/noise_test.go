package compare

import (
	"math/rand/v2"
	"testing"
)

// found is an outcome with differences at those paths.
func found(paths ...string) *Outcome {
	o := &Outcome{}
	for _, path := range paths {
		o.Differences = append(o.Differences, Difference{Kind: Value, Path: path})
	}
	return o
}

// flip is found with one path, with a chance of p.
func flip(r *rand.Rand, path string, p float64) *Outcome {
	if r.Float64() < p {
		return found(path)
	}
	return found()
}

func TestWhatAlwaysDiffersFromTheTwinIsNoise(t *testing.T) {
	n := NewNoise(NoiseConfig{})
	for range 100 {
		n.Add("/", found("at"), found("at"))
	}
	v := n.Of("/", "at")
	if v.State != Undecided || v.Needed < 300 || v.Needed > 900 || v.Twin != 100 || v.Shadow != 100 || v.Both != 100 {
		t.Fatalf("after 100: %+v", v)
	}
	for range v.Needed + 10 {
		n.Add("/", found("at"), found("at"))
	}
	if v := n.Of("/", "at"); v.State != IsNoise || v.Needed != 0 || v.Excess.High >= 0.005 {
		t.Errorf("%+v", v)
	}
}

func TestWhatOnlyTheShadowDoesIsDifferent(t *testing.T) {
	n := NewNoise(NoiseConfig{})
	n.Add("/", found(), found("role"))
	if v := n.Of("/", "role"); v.State != Undecided || v.Needed < 5 || v.Needed > 10 {
		t.Errorf("one request decides nothing: %+v", v)
	}
	for range 10 {
		n.Add("/", found(), found("role"))
	}
	if v := n.Of("/", "role"); v.State != IsDifferent || v.Excess.Estimate != 1 || v.Excess.Low < 0.25 {
		t.Errorf("%+v", v)
	}
	if v := n.Of("/other", "role"); v.State != Undecided || v.Requests != 0 {
		t.Errorf("another route: %+v", v)
	}
	all := n.Verdicts()
	if len(all) != 1 || all[0].State != IsDifferent {
		t.Errorf("%+v", all)
	}
}

// A path that differs now and then, from the twin as from the shadow, must hardly ever be called different, though one
// looks after each request.
func TestFalseAlarmsOfNoise(t *testing.T) {
	const runs = 200
	for _, p := range []float64{0.02, 0.3, 0.5} {
		alarms := 0
		for seed := range uint64(runs) {
			r := rand.New(rand.NewPCG(seed, 7))
			n := NewNoise(NoiseConfig{})
			for range 300 {
				n.Add("/", flip(r, "x", p), flip(r, "x", p))
				if p := n.routes["/"].paths["x"]; p != nil && n.leans(p.twin-p.both, p.shadow-p.both) {
					alarms++
					break
				}
			}
		}
		if share := float64(alarms) / runs; share > 0.05 {
			t.Errorf("%g: false alarms in %.1f %% of the runs", p, 100*share)
		}
	}
}

func TestRareDifferencesAreFoundWhenSaid(t *testing.T) {
	const runs = 100
	late := 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 8))
		n := NewNoise(NoiseConfig{})
		add := func(times int) {
			for range times {
				n.Add("/", flip(r, "x", 0.1), flip(r, "x", 0.4))
			}
		}
		add(40)
		v := n.Of("/", "x")
		if v.State == Undecided {
			add(2*v.Needed + 20)
		}
		if n.Of("/", "x").State != IsDifferent {
			late++
		}
	}
	if late > runs/5 {
		t.Errorf("%d of %d are not decided after twice the requests that were said to be needed", late, runs)
	}
}

func TestPermutedArraysAreLearnt(t *testing.T) {
	n, m := NewNoise(NoiseConfig{}), masks(t, MaskConfig{})
	live, twin, shadow := jsonAnswer(`{"l":[1,2,3]}`), jsonAnswer(`{"l":[2,1,3]}`), jsonAnswer(`{"l":[3,2,1]}`)
	n.Add("/", m.Compare(live, twin), m.Compare(live, shadow))
	if got := n.Permuted("/"); len(got) != 1 || got[0] != "l" {
		t.Fatalf("%v", got)
	}
	if o := m.Compare(live, shadow, n.Permuted("/")...); !o.Equal() || len(o.Masked) != 1 {
		t.Errorf("%s", said(o))
	}
	if o := m.Compare(live, jsonAnswer(`{"l":[3,2,4]}`), n.Permuted("/")...); o.Equal() {
		t.Error("another item passes for another order")
	}
}

func TestNoiseIsBounded(t *testing.T) {
	n := NewNoise(NoiseConfig{MaxPaths: 10})
	for i := range 100 {
		n.Add("/", found(), found("p"+itoa(i)))
	}
	if all := n.Verdicts(); len(all) != 11 || n.Of("/", more).Shadow != 90 {
		t.Errorf("%d paths, %+v", len(all), n.Of("/", more))
	}
}

// With many paths that differ at random, the chance that any of them is called different stays as small.
func TestManyPathsDoNotRaiseAnAlarm(t *testing.T) {
	const runs = 60
	alarms := 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := NewNoise(NoiseConfig{})
		for range 60 {
			twin, shadow := found(), found()
			for i := range 40 {
				for _, o := range []*Outcome{twin, shadow} {
					if r.IntN(2) == 0 {
						o.Differences = append(o.Differences, Difference{Kind: Value, Path: "p" + itoa(i)})
					}
				}
			}
			n.Add("/", twin, shadow)
		}
		for _, p := range n.routes["/"].paths {
			if n.leans(p.twin-p.both, p.shadow-p.both) {
				alarms++
				break
			}
		}
	}
	if alarms > runs/10 {
		t.Errorf("alarms in %d of %d runs", alarms, runs)
	}
}
