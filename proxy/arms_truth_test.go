package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/workload"
)

// Whatever makes a run worthless is told by its rule and leaves no winner: here over real connections, with backends that
// do it on purpose.

// benchOf is a short bench of two backends with a closed loop of four clients.
func benchOf(t *testing.T, first, second http.HandlerFunc) bench.Config {
	t.Helper()
	var text strings.Builder
	text.WriteString("[[site]]\nhosts = [\"shop.example\"]\nroot = \"@PUBLIC@\"\napp = \"first\"\n[site.split]\nsecond = 50\n")
	for name, handler := range map[string]http.HandlerFunc{"first": first, "second": second} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		fmt.Fprintf(&text, "[upstream.%s]\nhttp = [%q]\n", name, server.Listener.Addr())
	}
	a := openArms(t, loadConfig(t, text.String()), ArmsConfig{})
	return bench.Config{
		Arms: a.All, Workload: &workload.Workload{Host: a.Host, Routes: []workload.Route{{Target: "/"}}}, Closed: 4, Pairs: 6,
		Block: 250 * time.Millisecond, Discard: 50 * time.Millisecond, Gap: 5 * time.Millisecond, Warmup: 300 * time.Millisecond,
		Drain: 200 * time.Millisecond, Seed: 3,
	}
}

// answers takes so long for each answer.
func answers(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(d)
		fmt.Fprint(w, strings.Repeat("x", 500))
	}
}

// wants runs a bench that must break a rule.
func wants(t *testing.T, c bench.Config, rule string) {
	t.Helper()
	r, err := bench.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.ContainsFunc(r.Findings, func(f bench.Finding) bool { return f.Rule == rule && !f.Flag })
	if !broken || r.Verdict.State != bench.Invalid || r.Verdict.Winner != -1 {
		t.Errorf("verdict %+v, findings %+v; want %s and no winner", r.Verdict, r.Findings, rule)
	}
}

func TestBenchOfBackendsThatAnswerSomethingElse(t *testing.T) {
	const good = 100 // requests: more than are learnt from
	for name, spoil := range map[string]http.HandlerFunc{
		"V02 throttle": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"V02 redirect to login": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://shop.example/login", http.StatusFound)
		},
		"V01 error page":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"V01 another page": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 5000)) },
		"V01 cut":          func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			usual := answers(2 * time.Millisecond)
			spoilt := func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) > good {
					spoil(w, r)
					return
				}
				usual(w, r)
			}
			wants(t, benchOf(t, answers(2*time.Millisecond), spoilt), name[:3])
		})
	}
}

// Of three requests one is never answered. What is left has fine latencies.
func TestBenchOfBackendThatHangs(t *testing.T) {
	t.Parallel()
	var blocks, n atomic.Int64
	usual := answers(time.Millisecond)
	hangs := func(w http.ResponseWriter, r *http.Request) {
		if blocks.Load() > 0 && n.Add(1)%3 == 0 {
			<-r.Context().Done()
			return
		}
		usual(w, r)
	}
	c := benchOf(t, usual, hangs)
	c.Tell = func(e bench.Event) {
		if e.Block != nil {
			blocks.Add(1)
		}
	}
	wants(t, c, "V09")
}

// slowed is a pair of equal backends that are slow while the switch says so.
func slowed(slow *atomic.Bool) http.HandlerFunc {
	quick, late := answers(4*time.Millisecond), answers(10*time.Millisecond)
	return func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() {
			late(w, r)
			return
		}
		quick(w, r)
	}
}

// Whoever comes second is slower, whichever arm that is.
func TestBenchInWhichTheOrderDecides(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	c := benchOf(t, slowed(&slow), slowed(&slow))
	c.Tell = func(e bench.Event) {
		if e.Block != nil {
			slow.Store(e.Block.Position == 0)
		}
	}
	wants(t, c, "V14")
}

// The two blocks of the control pair are of one arm, and differ as much as arms might.
func TestBenchOnMachineThatDrifts(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	c := benchOf(t, slowed(&slow), slowed(&slow))
	c.Tell = func(e bench.Event) {
		if e.Block != nil {
			slow.Store(e.Block.Control && e.Block.Position == 0)
		}
	}
	wants(t, c, "V13")
}

// Both get slower all the time, so that neither was warm, or the machine is not quiet.
func TestBenchThatIsNotSteady(t *testing.T) {
	t.Parallel()
	var blocks atomic.Int64
	slower := func(w http.ResponseWriter, r *http.Request) {
		answers(3*time.Millisecond+time.Duration(blocks.Load())*time.Millisecond/2)(w, r)
	}
	c := benchOf(t, slower, slower)
	c.Tell = func(e bench.Event) {
		if e.Block != nil {
			blocks.Add(1)
		}
	}
	wants(t, c, "V07")
}

// A backend that has to wake up first: after a pause nothing comes for a second. The average would hide it.
func TestBenchWithDeadSecondAtTheStart(t *testing.T) {
	t.Parallel()
	var last, dead atomic.Int64
	begun := time.Now()
	usual := answers(2 * time.Millisecond)
	wakes := func(w http.ResponseWriter, r *http.Request) {
		now := int64(time.Since(begun))
		if before := last.Swap(now); before > 0 && now-before > int64(300*time.Millisecond) && dead.Load() == 0 {
			dead.Store(now + int64(1100*time.Millisecond))
		}
		time.Sleep(time.Duration(dead.Load() - now))
		usual(w, r)
	}
	c := benchOf(t, usual, wakes)
	c.Arms, c.Pairs, c.Gap = c.Arms[1:], 2, 500*time.Millisecond
	c.Block, c.Discard = 3200*time.Millisecond, 200*time.Millisecond
	wants(t, c, "V07")
}
