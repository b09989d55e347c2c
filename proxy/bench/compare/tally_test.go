package compare

import (
	"fmt"
	"testing"
	"time"
)

func TestEachKindThatIsCountedHasASample(t *testing.T) {
	m, tally := masks(t, MaskConfig{}), NewTally(1)
	for i := range 100 {
		a := jsonAnswer(fmt.Sprintf(`{"v":%d,"t":1,"at":"2026-12-01T05:00:01Z"}`, i))
		b := jsonAnswer(fmt.Sprintf(`{"v":%d,"t":"1","m":1,"at":"2026-12-01T05:00:02Z"}`, i+1))
		tally.Add("/api", now.Add(time.Duration(i)*time.Second), m.Compare(a, b))
	}
	all := tally.Differences()
	if len(all) != 3 || tally.Pairs("/api") != 100 {
		t.Fatalf("%d pairs, %+v", tally.Pairs("/api"), all)
	}
	for _, e := range all {
		if e.Count != 100 || len(e.Samples) != 1+reservoir {
			t.Errorf("%s %s: %d, %d samples", e.Kind, e.Path, e.Count, len(e.Samples))
		}
		if e.Path == "v" && e.Samples[0].B != "100" {
			t.Errorf("the newest sample is %+v", e.Samples[0])
		}
	}
	if hidden := tally.Masked(); len(hidden) != 1 || hidden[0] != (Hidden{"/api", "at", "time", 100}) {
		t.Errorf("%+v", hidden)
	}
}

func TestReservoirIsFair(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(2000) {
		tally := NewTally(seed)
		for i := range 20 {
			tally.Add("/", now, &Outcome{Differences: []Difference{{Kind: Value, Path: "x", A: itoa(i)}}})
		}
		for _, s := range tally.Differences()[0].Samples[1:] {
			seen[s.A]++
		}
	}
	// Of 19 older ones 4 are kept: each in 421 of 2,000.
	for i := range 19 {
		if n := seen[itoa(i)]; n < 340 || n > 500 {
			t.Errorf("sample %d was kept %d times", i, n)
		}
	}
}

func TestTallyIsBounded(t *testing.T) {
	tally := NewTally(1)
	for i := range maxEntries + 50 {
		name := itoa(i)
		tally.Add("/"+name, now, &Outcome{
			Differences: []Difference{{Kind: Value, Path: name}}, Masked: []Masked{{"time", name, 1}}, Uncompared: "br", More: 1,
		})
	}
	for what, n := range map[string]int{"differences": len(tally.Differences()), "masks": len(tally.Masked()), "uncompared": len(tally.Uncompared())} {
		if n > maxEntries+2 {
			t.Errorf("%d %s", n, what)
		}
	}
}
