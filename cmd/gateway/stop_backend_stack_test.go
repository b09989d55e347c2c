//go:build stack

package main_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gateway/testdata/stack"
	"gateway/upstream"
)

// pair is an upstream of two pools with two children each, of which one is kept out for a second when it fails.
func pair(t *testing.T) (p *process, first, second *stack.Pool) {
	t.Helper()
	first, second = stack.FPM(t, stack.FPMConfig{Children: 2}), stack.FPM(t, stack.FPMConfig{Children: 2})
	return startGateway(t, site(t)+fmt.Sprintf(`[upstream.app]
fastcgi = [%q, %q]
max_in_flight = 2
queue_wait = "2s"
health = { fails = 3, window = "10s", eject = "1s" }
`, first.Address(), second.Address())), first, second
}

func backendAt(t *testing.T, p *process, pool *stack.Pool) upstream.BackendStatus {
	t.Helper()
	for _, b := range p.upstream(t).Backends {
		if b.Addr == pool.Address() {
			return b
		}
	}
	t.Fatalf("no backend %s", pool.Address())
	return upstream.BackendStatus{}
}

func TestStoppedBackendIsLeftAloneAndComesBack(t *testing.T) {
	p, first, second := pair(t)
	v := visit(t, p)
	gets := crowd(4, func() outcome { return v.get("/api/slow/10") })
	posts := crowd(2, func() outcome { return v.do("POST", "/api/echo", zeros(1000)) })
	served := func(pool *stack.Pool) bool { return backendAt(t, p, pool).Served >= 10 }
	eventually(t, "both at work", func() bool { return served(first) && served(second) })

	second.Stop()
	eventually(t, "ejection", func() bool { return !backendAt(t, p, second).Ejected.IsZero() })
	second.Start(t)
	before := backendAt(t, p, second).Served
	eventually(t, "its return", func() bool {
		b := backendAt(t, p, second)
		return b.Ejected.IsZero() && b.Served >= before+10
	})

	for _, o := range gets() {
		if o.err != nil || o.status != http.StatusOK {
			t.Errorf("GET: %s, want 200", o)
		}
	}
	broken := 0
	for _, o := range posts() {
		switch {
		case o.err == nil && o.status == http.StatusBadGateway:
			broken++ // it was in a child that was told to go
		case o.err != nil || o.status != http.StatusOK:
			t.Errorf("POST: %s, want 200", o)
		}
	}
	if broken > 2 {
		t.Errorf("%d POSTs were lost, though the pool had two children", broken)
	}
	if b := backendAt(t, p, first); b.Failed != 0 {
		t.Errorf("the backend that was there all the time is blamed: %+v", b)
	}
}

func TestLastBackendIsNeverLeftAlone(t *testing.T) {
	p, first, second := pair(t)
	v := visit(t, p)
	first.Stop()
	second.Stop()
	for range 3 {
		for _, o := range together(4, func(int) outcome { return v.get("/api/ping") }) {
			if o.err != nil || o.status != http.StatusBadGateway || o.took > 4*time.Second {
				t.Errorf("%s, want 502 once there is no more time to wait", o)
			}
		}
		out := 0
		for _, b := range p.upstream(t).Backends {
			if !b.Ejected.IsZero() {
				out++
			}
		}
		if out == 2 {
			t.Fatal("both backends are left alone")
		}
	}
	first.Start(t)
	second.Start(t)
	v.prompt()
}

// TestOnlyBackendIsBackAtOnce: however often it has failed, the first request after its return is answered.
func TestOnlyBackendIsBackAtOnce(t *testing.T) {
	pool, server := stack.FPM(t, stack.FPMConfig{TCP: true}), stack.Resident(t, 2)
	for _, c := range []struct {
		name     string
		backend  breakable
		upstream string
	}{
		{"fpm", pool, fastcgiUpstream("app", pool)},
		{"resident", server, httpUpstream("app", server)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startGateway(t, site(t)+c.upstream+"queue_wait = \"100ms\"\n")
			v := visit(t, p)
			v.prompt()
			c.backend.Stop()
			for range 6 {
				if o := v.get("/api/ping"); o.err != nil || o.status != http.StatusBadGateway {
					t.Errorf("%s, want 502", o)
				}
			}
			c.backend.Start(t)
			v.prompt()
		})
	}
}
