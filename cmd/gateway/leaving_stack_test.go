//go:build stack

package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// ways are the kinds of backend, each with room for two requests at a time.
func ways(t *testing.T) map[string]string {
	t.Helper()
	pool := stack.FPM(t, stack.FPMConfig{Children: 2})
	return map[string]string{
		"fpm":        fmt.Sprintf("[upstream.app]\nfastcgi = [%q]\nmax_in_flight = 2\n", pool.Address()),
		"resident":   httpUpstream("app", resident()),
		"frankenphp": httpUpstream("app", frankenphp()),
	}
}

// TestUploadThatBreaksOffRunsNoScript: PHP would run it with what has come, and be none the wiser.
func TestUploadThatBreaksOffRunsNoScript(t *testing.T) {
	app := stack.App(t)
	for name, upstream := range ways(t) {
		p := startGateway(t, site(t)+upstream)
		v := visit(t, p)
		for framing, begin := range map[string]string{
			"length": "Content-Length: 2000000\r\n\r\n" + strings.Repeat("x", 1000000),
			"chunks": "Transfer-Encoding: chunked\r\n\r\nf4240\r\n" + strings.Repeat("x", 500000),
		} {
			t.Run(name+"/"+framing, func(t *testing.T) {
				counter := unique("breaks-off")
				uri := "/api/count/" + counter
				w := dialWire(t, p)
				w.send("POST " + uri + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n" + begin)
				w.Close()
				if line := p.access(t, uri, 1)[0]; line.Status != 499 || line.Attempts != 0 {
					t.Errorf("the log says %+v, want 499 and no attempt", line)
				}
				v.prompt()
				if n := app.Count(counter); n != 0 {
					t.Errorf("the script ran %d times", n)
				}
				p.harmless(t)
			})
		}
	}
}

// TestSlowBodiesHoldNoWorker has more of them than there are workers.
func TestSlowBodiesHoldNoWorker(t *testing.T) {
	for name, upstream := range ways(t) {
		t.Run(name, func(t *testing.T) {
			p := startGateway(t, site(t)+upstream)
			for i := range 20 {
				w := dialWire(t, p)
				framing := "Content-Length: 1000000\r\n\r\nhalf"
				if i%2 == 1 {
					framing = "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
				}
				w.send("POST /api/sink HTTP/1.1\r\nHost: localhost\r\n" + framing)
			}
			visit(t, p).prompt()
			if n := p.inFlight(t); n > 0 {
				t.Errorf("%d slots are taken by bodies that have not come yet", n)
			}
		})
	}
}

// TestWorkerOfAClientThatLeftIsBusyStill: PHP goes on with a script that prints nothing, so that its child cannot be
// given to anyone else before the script's end.
func TestWorkerOfAClientThatLeftIsBusyStill(t *testing.T) {
	pool := stack.FPM(t, stack.FPMConfig{Children: 2, Backlog: 1})
	p := startGateway(t, site(t)+fmt.Sprintf("[upstream.app]\nfastcgi = [%q]\nmax_in_flight = 2\n", pool.Address()))
	v := visit(t, p)
	app := stack.App(t)
	counter := unique("left-behind")
	uri := "/api/slow/1200?count=" + counter
	// Ten clients of which each leaves before its answer comes, and all but two while they wait for their turn.
	var clients []*wire
	for range 10 {
		clients = append(clients, dialWire(t, p))
		clients[len(clients)-1].ask(uri)
	}
	eventually(t, "two scripts run", func() bool { return app.Count(counter) == 2 })
	begun := time.Now()
	for _, w := range clients {
		w.Close()
	}
	for _, line := range p.access(t, uri, 10) {
		if line.Status != 499 {
			t.Errorf("the log says %+v, want 499", line)
		}
	}
	if n := p.inFlight(t); n != 2 {
		t.Errorf("%d slots are taken while two scripts run", n)
	}
	v.ok("/api/ping")
	if waited := time.Since(begun); waited < 500*time.Millisecond {
		t.Errorf("a request was let in after %s, while both children were busy", waited)
	}
	if line := p.access(t, "/api/ping", 1)[0]; line.Attempts != 1 {
		t.Errorf("it took %d attempts, want one that waited for a child", line.Attempts)
	}
	if n := app.Count(counter); n != 2 {
		t.Errorf("%d scripts ran, want none of those that still waited", n)
	}
	eventually(t, "all slots are free", func() bool { return p.inFlight(t) == 0 })
	p.harmless(t)
}

// TestPHPNoticesThatItsClientLeft: a script that prints ends with its client.
func TestPHPNoticesThatItsClientLeft(t *testing.T) {
	app := stack.App(t)
	for name, upstream := range ways(t) {
		t.Run(name, func(t *testing.T) {
			p := startGateway(t, site(t)+upstream)
			v := visit(t, p)
			stream := unique("left")
			s := v.open("/api/endless/" + stream + "/20")
			s.line()
			s.Body.Close()
			eventually(t, "the end of the script", func() bool { return app.Ended(stream) != "" })
			if how := app.Ended(stream); !strings.HasPrefix(how, "aborted ") {
				t.Errorf("the script says %q, want aborted", how)
			}
			if line := p.access(t, "/api/endless/"+stream+"/20", 1)[0]; line.Status != 499 {
				t.Errorf("the log says %+v, want 499", line)
			}
			eventually(t, "its slot is free", func() bool { return p.inFlight(t) == 0 })
			p.harmless(t)
			v.prompt()
		})
	}
}
