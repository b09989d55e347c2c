//go:build stack

package main_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"gateway/testdata/stack"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// refuses waits until nobody listens at the address of p any more.
func refuses(t *testing.T, p *process) {
	t.Helper()
	eventually(t, "connections are refused", func() bool {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

// busy is a gateway that has slow requests in hand: three of FPM, and one of a resident backend, where a worker may
// have two connections and serves one after the other.
func busy(t *testing.T, uri string) (p *process, answers chan outcome) {
	t.Helper()
	p = startGateway(t, "limits = { grace = \"15s\" }\n"+site(t)+"split = { octane = 50 }\n"+
		fastcgiUpstream("app", fpmPool())+httpUpstream("octane", resident()))
	answers = make(chan outcome, 4)
	for i := range cap(answers) {
		v := visit(t, p)
		r, err := http.NewRequest("GET", "http://localhost"+uri, nil)
		try(t, err)
		r.Header.Set("X-Gateway-Variant", []string{"app", "app", "app", "octane"}[i])
		go func() { answers <- v.send(r) }()
	}
	app := stack.App(t)
	_, name, _ := strings.Cut(uri, "?count=")
	eventually(t, "all scripts run", func() bool { return app.Count(name) == cap(answers) })
	return p, answers
}

func TestSIGTERMLetsRequestsFinish(t *testing.T) {
	uri := "/api/slow/1500?count=" + unique("drained")
	p, answers := busy(t, uri)
	kept := visit(t, p)
	kept.ok("/hello.txt")
	p.signal(t, syscall.SIGTERM)
	refuses(t, p)
	kept.get("/hello.txt") // served if it was on its way, but then the connection ends
	if o := kept.get("/hello.txt"); o.err == nil {
		t.Errorf("a connection without a request is still served: %s", o)
	}
	for range cap(answers) {
		if o := <-answers; o.err != nil || o.status != http.StatusOK {
			t.Errorf("%s, want 200", o)
		}
	}
	if code := p.exit(t, 5*time.Second); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	if lines := p.access(t, uri, 4); len(lines) != 4 {
		t.Errorf("%d access lines, want 4", len(lines))
	}
}

// TestSIGTERMAfterAReload: the connections from before it belong to a server of their own, whose requests must not keep
// the door open.
func TestSIGTERMAfterAReload(t *testing.T) {
	text := site(t) + fastcgiUpstream("app", fpmPool())
	p := startGateway(t, text)
	slow, counter := make(chan outcome, 1), unique("before")
	go func() { slow <- visit(t, p).get("/api/slow/1500?count=" + counter) }()
	app := stack.App(t)
	eventually(t, "the script runs", func() bool { return app.Count(counter) == 1 })
	p.write(t, "limits = { header_bytes = \"32KiB\" }\n"+text)
	try(t, p.control(t).Reload(t.Context()))
	visit(t, p).prompt()
	p.signal(t, syscall.SIGTERM)
	refuses(t, p)
	if len(slow) > 0 {
		t.Error("connections were taken as long as a request was under way")
	}
	if o := <-slow; o.err != nil || o.status != http.StatusOK {
		t.Errorf("%s, want 200", o)
	}
	if code := p.exit(t, 5*time.Second); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
}

// TestGraceEnds: what takes longer is cut off, and the gateway ends all the same.
func TestGraceEnds(t *testing.T) {
	p := startGateway(t, "limits = { grace = \"500ms\" }\n"+site(t)+fastcgiUpstream("app", fpmPool()))
	s := visit(t, p).open("/api/endless/grace/20")
	s.line()
	begun := time.Now()
	p.signal(t, syscall.SIGTERM)
	if s.rest() == nil {
		t.Error("the stream ended as if it were whole")
	}
	p.exit(t, 5*time.Second)
	if took := time.Since(begun); took < 500*time.Millisecond {
		t.Errorf("it ended after %s, before its grace was over", took)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p, answers := busy(t, "/api/slow/1200?count="+unique("at-once"))
	p.signal(t, syscall.SIGTERM)
	refuses(t, p)
	p.signal(t, syscall.SIGTERM)
	p.exit(t, time.Second/2)
	for range cap(answers) {
		if o := <-answers; o.err == nil {
			t.Errorf("%s, want a broken connection", o)
		}
	}
}
