package upstream

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// fakeBackends returns backends with the given numbers in flight.
func fakeBackends(inFlight ...int) (all []*backend) {
	for i, n := range inFlight {
		addr := fmt.Sprintf("10.0.0.%d:8000", i)
		all = append(all, &backend{BackendConfig: BackendConfig{Addr: addr}, index: i, seed: hash64(addr), inFlight: n})
	}
	return all
}

func picks(p policy, n int, candidates []*backend) string {
	var b strings.Builder
	for range n {
		fmt.Fprint(&b, p.pick(0, candidates).index)
	}
	return b.String()
}

func TestRoundRobinTakesTurns(t *testing.T) {
	p := &roundRobin{}
	all := fakeBackends(0, 9, 0)
	if got := picks(p, 7, all); got != "0120120" {
		t.Errorf("order = %s", got)
	}
	// The turn of one that is full goes to the next, and the others keep theirs.
	if got := picks(p, 3, []*backend{all[0], all[2]}); got != "202" {
		t.Errorf("order without 1 = %s", got)
	}
}

func TestLeastInFlight(t *testing.T) {
	p := &leastInFlight{}
	if got := picks(p, 4, fakeBackends(2, 1, 3)); got != "1111" {
		t.Errorf("order = %s", got)
	}
	level := strings.Split(picks(p, 300, fakeBackends(1, 1, 1, 5)), "")
	for _, index := range []string{"0", "1", "2"} {
		n := 0
		for _, got := range level {
			if got == index {
				n++
			}
		}
		if n < 50 {
			t.Errorf("backend %s got %d of 300 although it is level with two others", index, n)
		}
	}
}

func TestPowerOfTwoComparesTwoDifferentBackends(t *testing.T) {
	draws := []int{0, 0, 2, 1, 1, 1}
	p := &powerOfTwo{rand: func(n int) int {
		next := draws[0]
		draws = draws[1:]
		return next % n
	}}
	// 0 against 1, 2 against 1, 1 against 2.
	if got := picks(p, 3, fakeBackends(5, 1, 3)); got != "111" {
		t.Errorf("order = %s", got)
	}
}

func TestHashMovesOnlyTheKeysOfALostBackend(t *testing.T) {
	all := fakeBackends(0, 0, 0, 0, 0)
	without := slices.Delete(slices.Clone(all), 2, 3)
	got := make([]int, len(all))
	moved := make([]int, len(all))
	for i := range 10_000 {
		key := hash64(fmt.Sprintf("session-%d", i))
		before, after := rendezvous{}.pick(key, all), rendezvous{}.pick(key, without)
		got[before.index]++
		switch {
		case before.index == 2:
			moved[after.index]++
		case before != after:
			t.Fatalf("a key of %s moved although that is still there", before.Addr)
		}
	}
	for i, n := range got {
		if n < 1800 || n > 2200 {
			t.Errorf("backend %d has %d of 10000 keys, want about 2000", i, n)
		}
		if i != 2 && (moved[i] < 400 || moved[i] > 600) {
			t.Errorf("backend %d took over %d keys, want about 500", i, moved[i])
		}
	}
}

func TestHashKeepsAKeyTogether(t *testing.T) {
	served := make(map[string]map[string]bool) // session to backends
	var backends []BackendConfig
	for _, addr := range []string{"a", "b", "c", "d"} {
		backends = append(backends, BackendConfig{Addr: addr, Transport: tripFunc(func(r *http.Request) (*http.Response, error) {
			session := r.Header.Get("Session")
			if served[session] == nil {
				served[session] = make(map[string]bool)
			}
			served[session][addr] = true
			return newResponse(http.NoBody), nil
		})})
	}
	key := func(r *http.Request) string { return r.Header.Get("Session") }
	g := newGroup(t, Config{Backends: backends, Policy: "hash", HashKey: key})
	for i := range 400 {
		r := newRequest("GET", "")
		if session := i % 4; session > 0 {
			r.Header.Set("Session", fmt.Sprint(session))
		}
		if _, err := send(g, r); err != nil {
			t.Fatal(err)
		}
	}
	for session, backends := range served {
		if session != "" && len(backends) != 1 {
			t.Errorf("session %s was served by %v", session, backends)
		}
	}
	if len(served[""]) != 4 {
		t.Errorf("requests without a key were served by %v, want all", served[""])
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	ok := BackendConfig{Addr: "a", Transport: &script{}}
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "upstream fpm: configure: no backend"},
		{Config{Backends: []BackendConfig{ok}, Policy: "leastcon"},
			`upstream.fpm.policy: unknown "leastcon"; want round_robin, least_in_flight, power_of_two or hash`},
		{Config{Backends: []BackendConfig{ok, ok}}, "upstream.fpm: backend a is listed twice"},
		{Config{Backends: []BackendConfig{{Transport: &script{}}}}, "upstream.fpm: backend 1 has no address"},
		{Config{Backends: []BackendConfig{{Addr: "a"}}}, "upstream.fpm: backend a has no transport"},
		{Config{Backends: []BackendConfig{{Addr: "a", Transport: &script{}, MaxInFlight: -1}}},
			"upstream.fpm.max_in_flight: -1; want 0 (no cap) or more"},
		{Config{Backends: []BackendConfig{ok}, EjectAfter: -1},
			"upstream.fpm: health.fails wants 0 (the default) or more"},
		{Config{Backends: []BackendConfig{ok}, Policy: "hash"}, "upstream.fpm.hash_key: the hash policy needs one"},
	} {
		tc.cfg.Name = "fpm"
		if _, err := New(tc.cfg); err == nil || err.Error() != tc.want {
			t.Errorf("New = %v, want %s", err, tc.want)
		}
	}
}
