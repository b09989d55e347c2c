package main

import (
	"slices"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []float64
		want spread
	}{
		{"of nothing", nil, spread{}},
		{"of one", []float64{3}, spread{3, 3, 3}},
		{"of an odd number", []float64{9, 1, 4}, spread{4, 1, 9}},
		{"of an even number", []float64{8, 2, 4, 1}, spread{3, 1, 8}},
	} {
		in := slices.Clone(c.in)
		if got := spreadOf(in); got != c.want {
			t.Errorf("spread %s = %v, want %v", c.name, got, c.want)
		}
		if !slices.Equal(in, c.in) {
			t.Errorf("spread %s changes what it is given", c.name)
		}
	}
}

// The machine is twice as slow in the second round. Ratios of medians would show that as a spread of the peer.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	got := ratios(map[int]float64{1: 200, 2: 100, 3: 150}, map[int]float64{1: 100, 2: 50, 4: 7})
	if !slices.Equal(got, []float64{2, 2}) {
		t.Errorf("ratios = %v, want 2 for rounds 1 and 2", got)
	}
	if got := ratios(map[int]float64{1: 5}, map[int]float64{1: 0}); len(got) != 0 {
		t.Errorf("ratios to 0 = %v, want none", got)
	}
}

// taken is a sample with a rate; its latencies and CPU time follow from that.
func taken(round int, peer string, rate float64) sample {
	return sample{Round: round, Row: "a", Peer: peer, CPU: time.Second, load: load{
		Requests: int(rate), Duration: 2 * time.Second, PerSecond: rate,
		P50: time.Duration(1e9 / rate), P99: time.Duration(2e9 / rate),
	}}
}

func linesOf(samples []sample) map[string]line {
	byPeer := map[string]line{}
	for _, l := range summarize(samples, "a", allPeers()) {
		byPeer[l.Peer] = l
	}
	return byPeer
}

func TestSummaryComparesWithTheReference(t *testing.T) {
	other := taken(1, "gateway", 1)
	other.Row = "b"
	lines := linesOf([]sample{
		taken(1, reference, 1000), taken(2, reference, 500), taken(1, "gateway", 1500), taken(2, "gateway", 1000), other,
	})
	got := lines["gateway"]
	if want := (spread{1250, 1000, 1500}); got.Values[0] != want {
		t.Errorf("requests/s = %v, want %v", got.Values[0], want)
	}
	if want := (spread{1.75, 1.5, 2}); got.Ratios[0] != want {
		t.Errorf("ratio of requests/s = %v, want %v", got.Ratios[0], want)
	}
	if got := got.Values[3].Max; got != 1000 {
		t.Errorf("CPU/request at most = %v us, want 1000", got)
	}
	if want := (spread{0.5, 0.5, 0.5}); got.Busy != want {
		t.Errorf("core in use = %v, want %v", got.Busy, want)
	}
}

func TestOneInvalidSampleLeavesAPeerWithoutFigures(t *testing.T) {
	bad := taken(2, "gateway", 2000)
	bad.Invalid = "Non-2xx or 3xx responses: 1"
	lines := linesOf([]sample{taken(1, reference, 1000), taken(2, reference, 1000), taken(1, "gateway", 1500), bad})
	if got := lines["gateway"]; len(got.Values) != 0 || len(got.Ratios) != 0 || !slices.Equal(got.Invalid, []string{bad.Invalid}) {
		t.Errorf("line = %+v, want only the reason", got)
	}
	if got := lines[reference]; len(got.Values) != len(figures) {
		t.Errorf("line of the reference = %+v, want its figures", got)
	}
}

func TestNothingIsComparedWithAnInvalidReference(t *testing.T) {
	bad := taken(1, reference, 1000)
	bad.Invalid = "process 7 ended"
	got := linesOf([]sample{bad, taken(1, "gateway", 1500)})["gateway"]
	if len(got.Values) != len(figures) || len(got.Ratios) != 0 {
		t.Errorf("line = %+v, want values and no ratios", got)
	}
}
