//go:build stack

package main_test

import (
	"net/http"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// TestFPMReloadUnderLoadFailsNoGET: the old children have process_control_timeout for what they have in hand. A
// connection that one of them had accepted but not yet read from is reset, and its GET sent once more.
func TestFPMReloadUnderLoadFailsNoGET(t *testing.T) {
	for name, kept := range map[string]string{"fresh": "", "kept": "keepalive = { max_idle = 2 }\n"} {
		t.Run(name, func(t *testing.T) {
			pool := stack.FPM(t, stack.FPMConfig{})
			p := startGateway(t, site(t)+fastcgiUpstream("app", pool)+kept)
			v := visit(t, p)
			stop := crowd(8, func() outcome { return v.get("/api/slow/20") })
			for range 4 {
				before := backendAt(t, p, pool).Served
				eventually(t, "a few answers", func() bool { return backendAt(t, p, pool).Served >= before+4 })
				pool.Reload(t)
			}
			all := stop()
			for _, o := range all {
				if o.err != nil || o.status != http.StatusOK || o.took > 5*time.Second {
					t.Errorf("%s, want 200 soon", o)
				}
			}
			if len(all) < 16 {
				t.Errorf("only %d requests", len(all))
			}
			p.alive(t)
		})
	}
}

// TestFPMReloadThatKillsFailsNoGET: by default PHP-FPM waits for nobody. What was in its children is sent once more.
func TestFPMReloadThatKillsFailsNoGET(t *testing.T) {
	pool := stack.FPM(t, stack.FPMConfig{Impatient: true})
	p := startGateway(t, site(t)+fastcgiUpstream("app", pool))
	v := visit(t, p)
	stop := crowd(8, func() outcome { return v.get("/api/slow/100") })
	for range 4 {
		// Nobody is to be killed twice.
		before := backendAt(t, p, pool).Served
		eventually(t, "a few answers", func() bool { return backendAt(t, p, pool).Served >= before+12 })
		pool.Reload(t)
	}
	all := stop()
	for _, o := range all {
		if o.err != nil || o.status != http.StatusOK || o.took > 5*time.Second {
			t.Errorf("%s, want 200 soon", o)
		}
	}
	again := 0
	for _, e := range p.access(t, "/api/slow/100", len(all)) {
		again += e.Attempts - 1
	}
	if again == 0 {
		t.Error("no child was killed with a request in hand")
	}
}

// TestFPMRestartUnderLoadFailsNoGET: a restart ends the children at once and takes the socket away until PHP has started.
func TestFPMRestartUnderLoadFailsNoGET(t *testing.T) {
	pool := stack.FPM(t, stack.FPMConfig{})
	p := startGateway(t, site(t)+fastcgiUpstream("app", pool))
	v := visit(t, p)
	stop := crowd(8, func() outcome { return v.get("/api/slow/20") })
	for range 2 {
		before := backendAt(t, p, pool).Served
		eventually(t, "a few answers", func() bool { return backendAt(t, p, pool).Served >= before+12 })
		pool.Stop()
		pool.Start(t)
	}
	for _, o := range stop() {
		if o.err != nil || o.status != http.StatusOK || o.took > 5*time.Second {
			t.Errorf("%s, want 200 soon", o)
		}
	}
	p.alive(t)
}

// TestFPMReloadWaitsForAScript: one that takes longer than the reload is answered by the child it began in.
func TestFPMReloadWaitsForAScript(t *testing.T) {
	pool := stack.FPM(t, stack.FPMConfig{Children: 2})
	p := startGateway(t, site(t)+fastcgiUpstream("app", pool))
	v := visit(t, p)
	app := stack.App(t)
	slow, counter := make(chan outcome, 1), unique("reload")
	go func() { slow <- v.get("/api/slow/1500?count=" + counter) }()
	eventually(t, "the script runs", func() bool { return app.Count(counter) == 1 })
	pool.Reload(t)
	if o := <-slow; o.err != nil || o.status != http.StatusOK {
		t.Errorf("%s, want 200", o)
	}
	if n := app.Count(counter); n != 1 {
		t.Errorf("the script ran %d times", n)
	}
	v.prompt()
}
