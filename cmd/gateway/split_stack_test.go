//go:build stack

package main_test

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gateway/proxy"
	"gateway/testdata/stack"
)

// unnoticed is the longest that a user may wait who happens upon a variant that has died, on a busy machine.
const unnoticed = 2 * time.Second

// splitInTwo is a gateway whose users are all on a resident server of their own, with FPM as the site's app.
func splitInTwo(t *testing.T, more string) (*process, *stack.Backend) {
	t.Helper()
	server := stack.Resident(t, 2)
	text := strings.Replace(site(t), `"app"`, `"fpm"`, 1) + "split = { resident = 100 }\n" +
		fastcgiUpstream("fpm", fpmPool()) + httpUpstream("resident", server) + more
	return startGateway(t, text), server
}

func (p *process) resident(t *testing.T) proxy.UpstreamStatus {
	t.Helper()
	for _, u := range p.status(t).Upstreams {
		if u.Name == "resident" {
			return u
		}
	}
	t.Fatal("no upstream resident")
	return proxy.UpstreamStatus{}
}

// killWhole returns once nobody listens any more: the workers of a server may outlive it for a moment.
func killWhole(t *testing.T, server *stack.Backend) {
	t.Helper()
	server.Kill()
	eventually(t, "nobody listens", func() bool {
		conn, err := net.Dial("tcp", server.Addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// TestNobodyNoticesThatAVariantDies: under load, whoever asks is answered by the app in its place. A POST that the
// server had in hand could not be sent twice, so none is as it dies.
func TestNobodyNoticesThatAVariantDies(t *testing.T) {
	p, server := splitInTwo(t, "health = { eject = \"1s\" }\n")
	v := visit(t, p)
	var inHand sync.RWMutex
	upload := strings.Repeat("x", 100_000)
	gets := crowd(4, func() outcome { return v.get("/api/ping") })
	posts := crowd(3, func() outcome {
		inHand.RLock()
		defer inHand.RUnlock()
		return v.do("POST", "/api/echo", strings.NewReader(upload))
	})
	eventually(t, "the variant is at work", func() bool { return p.resident(t).Backends[0].Served > 20 })

	inHand.Lock()
	killWhole(t, server)
	inHand.Unlock()
	eventually(t, "it is down", func() bool { return !p.resident(t).Backends[0].Down.IsZero() })
	began := p.resident(t).Backends[0].Failed
	eventually(t, "it is tried again", func() bool { return p.resident(t).Backends[0].Failed > began })
	server.Start(t)
	before := p.resident(t).Backends[0].Served
	eventually(t, "it is back", func() bool {
		b := p.resident(t).Backends[0]
		return b.Down.IsZero() && b.Served > before+20
	})

	for _, o := range append(gets(), posts()...) {
		if o.err != nil || o.status != http.StatusOK || o.took > unnoticed {
			t.Errorf("%s, want 200 soon", o)
		}
	}
	for _, msg := range []string{"backend down", "backend up"} {
		says := func(e entry) bool { return e.Msg == msg }
		p.awaitLog(t, msg, says)
		if n := len(p.entries(t, says)); n != 1 {
			t.Errorf("the log says %q %d times", msg, n)
		}
	}
	for _, uri := range []string{"/api/ping", "/api/echo"} {
		moved := p.entries(t, func(e entry) bool { return e.URI == uri && strings.HasPrefix(e.Note, "variant ") })
		if len(moved) == 0 {
			t.Errorf("no access line of %s says that the app answers in place of the variant", uri)
		}
		for _, e := range moved {
			if e.Variant != "fpm" || e.Attempts != 1 {
				t.Errorf("access line %+v, want variant fpm and one attempt", e)
			}
		}
	}
	p.alive(t)
}

// TestWhoWaitsForAVariantThatDiesGetsTheApp kills a server with requests in hand and others in the queue before it. What
// was in hand may have been sent a second time before the last worker was gone.
func TestWhoWaitsForAVariantThatDiesGetsTheApp(t *testing.T) {
	p, server := splitInTwo(t, "max_in_flight = 2\n")
	v := visit(t, p)
	done, inHand := make(chan outcome), make(chan outcome)
	for range 2 {
		go func() { inHand <- v.get("/api/slow/1000") }()
	}
	eventually(t, "both workers are busy", func() bool { return p.resident(t).Backends[0].InFlight == 2 })
	for range 6 {
		go func() { done <- v.do("POST", "/api/echo", strings.NewReader("order")) }()
	}
	eventually(t, "others wait", func() bool { return p.resident(t).Queued == 6 })
	begun := time.Now()
	server.Kill()
	for range 6 {
		if o := <-done; o.err != nil || o.status != http.StatusOK || time.Since(begun) > unnoticed {
			t.Errorf("%s, want 200 soon", o)
		}
	}
	for range 2 {
		if o := <-inHand; o.err != nil || o.status != http.StatusOK && o.status != http.StatusBadGateway {
			t.Errorf("%s, want 200, or 502 after two attempts", o)
		}
	}
	p.alive(t)
}
