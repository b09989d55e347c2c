//go:build stack

package main_test

import (
	"net/http"
	"testing"

	"gateway/testdata/stack"
)

// cutShort checks that an answer was seen to be less than whole, by the client and in the log.
func cutShort(t *testing.T, p *process, uri string, o outcome) {
	t.Helper()
	if o.err == nil && o.status != http.StatusBadGateway {
		t.Errorf("GET %s: %s, want a broken answer or 502", uri, o)
	}
	line := p.access(t, uri, 1)[0]
	broken := line.Status == 200 && line.Truncated && line.Aborted
	if (!broken && line.Status != http.StatusBadGateway) || line.Error == "" {
		t.Errorf("the log says %+v, want a truncation", line)
	}
}

func TestFPMWorkerThatDiesMidAnswerIsNoWholePage(t *testing.T) {
	p := startGateway(t, site(t)+fastcgiUpstream("app", fpmPool()))
	v := visit(t, p)
	o := v.get("/api/fatal/halfway")
	cutShort(t, p, "/api/fatal/halfway", o)
	if o.status != 200 || len(o.body) == 0 {
		t.Errorf("%s, want what the script had sent before", o)
	}
	v.prompt()
}

func TestResidentWorkerThatDiesMidAnswerIsNoWholePage(t *testing.T) {
	p := startGateway(t, site(t)+httpUpstream("app", resident()))
	v := visit(t, p)
	cutShort(t, p, "/api/fatal/halfway", v.get("/api/fatal/halfway"))
	v.prompt()
}

// TestFPMWorkerThatDiesBeforeItAnswers: a GET is sent once more, to another worker, and then given up.
func TestFPMWorkerThatDiesBeforeItAnswers(t *testing.T) {
	p := startGateway(t, site(t)+fastcgiUpstream("app", fpmPool()))
	v := visit(t, p)
	counter := unique("dies")
	uri := "/api/fatal/kill?count=" + counter
	if o := v.get(uri); o.err != nil || o.status != http.StatusBadGateway {
		t.Errorf("%s, want 502", o)
	}
	if n := stack.App(t).Count(counter); n != 2 {
		t.Errorf("the script ran %d times, want once and once more", n)
	}
	if line := p.access(t, uri, 1)[0]; line.Attempts != 2 || line.Error == "" {
		t.Errorf("the log says %+v, want 2 attempts and an error", line)
	}
	v.prompt()
}

// TestPOSTWhoseFPMWorkerDiesIsNotRepeated kills the worker while PHP reads a body that takes it a while.
func TestPOSTWhoseFPMWorkerDiesIsNotRepeated(t *testing.T) {
	pool := stack.FPM(t, stack.FPMConfig{Children: 2})
	p := startGateway(t, "limits = { body = \"1GiB\" }\n"+site(t)+fastcgiUpstream("app", pool))
	v := visit(t, p)
	answer, counter := make(chan outcome, 1), unique("post-dies")
	go func() { answer <- v.do("POST", "/api/sink?count="+counter, zeros(256<<20)) }()
	app := stack.App(t)
	eventually(t, "the script runs", func() bool { return app.Count(counter) == 1 })
	pool.KillWorker(t)
	if o := <-answer; o.err != nil || o.status != http.StatusBadGateway {
		t.Errorf("%s, want 502", o)
	}
	v.prompt()
	if n := app.Count(counter); n != 1 {
		t.Errorf("the script ran %d times", n)
	}
}

// breakable is a backend that can be taken away whole, with every worker and the socket it listens on.
type breakable interface {
	Kill()
	Stop()
	Start(stack.T)
}

func TestBackendThatVanishesMidAnswerComesBack(t *testing.T) {
	for name, start := range map[string]func() (backend breakable, upstream string){
		"fpm": func() (breakable, string) {
			pool := stack.FPM(t, stack.FPMConfig{Children: 2})
			return pool, fastcgiUpstream("app", pool)
		},
		"resident": func() (breakable, string) {
			b := stack.Resident(t, 2)
			return b, httpUpstream("app", b)
		},
		"frankenphp": func() (breakable, string) {
			b := stack.FrankenPHP(t)
			return b, httpUpstream("app", b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			backend, upstream := start()
			p := startGateway(t, site(t)+upstream)
			v := visit(t, p)
			uri := "/api/endless/" + unique("vanishes")
			stream := v.open(uri)
			stream.line()
			backend.Kill()
			cutShort(t, p, uri, outcome{status: stream.StatusCode, err: stream.rest()})
			// Who comes while nobody is there waits, and the backend is found as soon as it is back.
			waiting := make(chan outcome, 1)
			go func() { waiting <- v.get("/api/state") }()
			eventually(t, "a request that waits", func() bool { return p.upstream(t).Queued > 0 })
			backend.Start(t)
			if o := <-waiting; o.err != nil || o.status != http.StatusOK {
				t.Errorf("the request that waited: %s, want 200", o)
			}
			v.prompt()
			p.alive(t)
		})
	}
}
