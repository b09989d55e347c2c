package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func allFronts() []*front {
	var fronts []*front
	for _, p := range allPeers() {
		fronts = append(fronts, &front{peer: p}, &front{peer: p, certificate: new(certificate)})
	}
	return fronts
}

func TestEachRoundHasEveryPeerOnItsRows(t *testing.T) {
	cells := plan(3, allRows(), allFronts(), rand.New(rand.NewPCG(1, 2)))
	type key struct {
		round     int
		row, peer string
	}
	seen := map[key]int{}
	for _, c := range cells {
		seen[key{c.round, c.row.Key, c.front.Key}]++
		if secure := c.front.certificate != nil; secure != c.row.overTLS() {
			t.Errorf("row %s is asked of %s with TLS: %v", c.row.Key, c.front.Key, secure)
		}
	}
	for round := 1; round <= 3; round++ {
		for _, r := range allRows() {
			for _, p := range allPeers() {
				want := 0
				if p.measuredOn(r) {
					want = 1
				}
				if got := seen[key{round, r.Key, p.Key}]; got != want {
					t.Errorf("round %d, row %s, %s: %d times, want %d", round, r.Key, p.Key, got, want)
				}
			}
		}
	}
}

func TestOrderOfPeersIsDrawnWithinRowAndRound(t *testing.T) {
	cells := plan(20, allRows(), allFronts(), rand.New(rand.NewPCG(1, 2)))
	began := map[string]bool{}
	for i, c := range cells {
		if i > 0 && (c.round < cells[i-1].round) {
			t.Fatalf("round %d after round %d", c.round, cells[i-1].round)
		}
		if c.row.Key == "a" && (i == 0 || cells[i-1].row.Key != "a") {
			began[c.front.Key] = true
		}
	}
	if len(began) < 4 {
		t.Errorf("row a began with %v in 20 rounds, want most of the peers", began)
	}
}

func TestWholeRunTakesLessThanHalfAnHour(t *testing.T) {
	cells := plan(fewestRounds, allRows(), allFronts(), rand.New(rand.NewPCG(1, 2)))
	s := settled{Rounds: fewestRounds, Seconds: defaultSeconds}
	if got := s.estimate(len(cells)); got > 25*time.Minute {
		t.Errorf("%d measurements take %v, want 25 minutes at most", len(cells), got)
	}
}

func TestEveryPeerAndRowIsSensible(t *testing.T) {
	rows := allRows()
	for _, p := range allPeers() {
		if !slices.ContainsFunc(rows, p.measuredOn) {
			t.Errorf("%s is measured on no row", p.Key)
		}
	}
	if !slices.ContainsFunc(allPeers(), func(p peer) bool { return p.Key == reference }) {
		t.Errorf("no peer is called %s, the reference", reference)
	}
}

func TestChooseNamesWhatItDoesNotKnow(t *testing.T) {
	key := func(r row) string { return r.Key }
	got, err := choose("--rows", "e2,a", allRows(), key)
	if err != nil || len(got) != 2 || got[0].Key != "e2" || got[1].Key != "a" {
		t.Errorf("choose = %v, %v; want e2 and a", got, err)
	}
	_, err = choose("--rows", "a,x", allRows(), key)
	if want := `--rows: unknown "x"; want some of a,b,c,d,e,e2,f,f2,g,g2,h,h2`; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}
