package fastcgi

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

func TestFreshConnectionEachByDefault(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, ""))
	tr := newTransport(t, r)
	for range 3 {
		fetch(t, tr)
	}
	if r.Conns() != 3 || r.Requests()[0].KeepConn {
		t.Errorf("%d connections, keep %t, want 3, false", r.Conns(), r.Requests()[0].KeepConn)
	}
}

func TestKeptConnection(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "again"))
	tr := newTransport(t, r, keep(2))
	for range 3 {
		if _, body := fetch(t, tr); body != "again" {
			t.Errorf("body = %q", body)
		}
	}
	if r.Conns() != 1 || !r.Requests()[0].KeepConn {
		t.Errorf("%d connections, keep %t, want 1, true", r.Conns(), r.Requests()[0].KeepConn)
	}
}

func TestMaxIdle(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, ""))
	tr := newTransport(t, r, keep(1))
	concurrently(t, tr, r, 3)
	if n := idleConns(tr); n != 1 {
		t.Errorf("%d idle connections, want 1", n)
	}
}

// concurrently sends n requests, all of which are under way at once, and leaves r answering at once.
func concurrently(t *testing.T, tr *Transport, r *fcgitest.Responder, n int) {
	t.Helper()
	all, arrived := make(chan struct{}), make(chan struct{})
	var bodies []io.ReadCloser
	for range n {
		r.Then(fcgitest.Stdout(textHead), fcgitest.Call(func() { arrived <- struct{}{} }), fcgitest.Hang(all), fcgitest.End(0, 0))
	}
	r.Then(fcgitest.Reply(200, ""))
	fetch(t, tr)
	for range n {
		resp, err := tr.RoundTrip(newRequest(t, "GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		await(t, arrived, "arrival")
		bodies = append(bodies, resp.Body)
	}
	close(all)
	for _, b := range bodies {
		if _, err := io.Copy(io.Discard, b); err != nil {
			t.Error(err)
		}
	}
}

func idleConns(tr *Transport) int {
	tr.idle.mu.Lock()
	defer tr.idle.mu.Unlock()
	return len(tr.idle.conns)
}

func TestConnectionThatFPMClosedIsReplaced(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "first"), fcgitest.Cut()).Then(fcgitest.Reply(200, "second"))
	tr := newTransport(t, r, keep(1))
	fetch(t, tr)
	waitUntil(t, func() bool {
		tr.idle.mu.Lock()
		defer tr.idle.mu.Unlock()
		return len(tr.idle.conns) == 1 && !tr.idle.conns[0].silent()
	})
	if _, body := fetch(t, tr); body != "second" || r.Conns() != 2 {
		t.Errorf("body = %q over %d connections, want second over 2", body, r.Conns())
	}
}

// waitUntil polls for what nothing signals.
func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

func TestReusedConnectionThatBreaksSaysSo(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "")).Then(fcgitest.Cut()).Then(fcgitest.Reply(200, "fresh"))
	tr := newTransport(t, r, keep(1))
	fetch(t, tr)
	e := refusal(t, tr, newRequest(t, "GET", ""))
	if !e.Reused() || e.SafeToRetry() || !errors.Is(e, ErrTruncated) {
		t.Errorf("error = %v, reused %t, safe %t, want ErrTruncated, true, false", e, e.Reused(), e.SafeToRetry())
	}
	if _, body := fetch(t, tr); body != "fresh" {
		t.Errorf("body = %q", body)
	}
}

func TestBytesAfterTheEndSpoilAConnection(t *testing.T) {
	end := fcgitest.Record{Type: fcgitest.TypeEnd, Content: make([]byte, 8)}
	r := fcgitest.New(t, fcgitest.Send(fcgitest.Record{Type: fcgitest.TypeStdout, Content: []byte(textHead)}, end, end), fcgitest.AwaitClose())
	tr := newTransport(t, r, keep(1))
	fetch(t, tr)
	if n := idleConns(tr); n != 0 {
		t.Errorf("%d idle connections, want none", n)
	}
}

func TestAbandonedConnectionIsNotReused(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"secret of one user"), fcgitest.Hang(nil)).Then(fcgitest.Reply(200, "mine"))
	tr := newTransport(t, r, keep(4))
	resp, err := tr.RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, body := fetch(t, tr); body != "mine" {
		t.Errorf("body = %q", body)
	}
}

func TestIdleTimeout(t *testing.T) {
	closed := make(chan struct{})
	r := fcgitest.New(t, fcgitest.Reply(200, ""), fcgitest.AwaitClose(), fcgitest.Call(func() { close(closed) }))
	tr := newTransport(t, r, keep(1), func(c *Config) { c.IdleTimeout = 20 * time.Millisecond })
	fetch(t, tr)
	await(t, closed, "closing an idle connection")
	waitUntil(t, func() bool { return idleConns(tr) == 0 })
}

func TestCloseIdle(t *testing.T) {
	closed := make(chan struct{})
	r := fcgitest.New(t, fcgitest.Reply(200, ""), fcgitest.AwaitClose(), fcgitest.Call(func() { close(closed) })).
		Then(fcgitest.Reply(200, ""))
	tr := newTransport(t, r, keep(1))
	fetch(t, tr)
	tr.CloseIdle()
	await(t, closed, "closing an idle connection")
	fetch(t, tr)
	if n := idleConns(tr); n != 1 {
		t.Errorf("%d idle connections after CloseIdle and a request, want 1", n)
	}
	tr.Close()
	if n := idleConns(tr); n != 0 {
		t.Errorf("%d idle connections after Close, want none", n)
	}
}

func TestExpiryTakesWhatIsDueAlone(t *testing.T) {
	p := &idlePool{max: 3, timeout: time.Hour}
	defer p.close()
	var conns [2]*closeCounter
	for i := range conns {
		conns[i] = new(closeCounter)
		p.put(&conn{Conn: conns[i]})
	}
	p.conns[0].since = time.Now().Add(-p.timeout)
	p.expire()
	if conns[0].n != 1 || conns[1].n != 0 || len(p.conns) != 1 || !p.ticking {
		t.Errorf("closed %d and %d times, %d kept, ticking %t", conns[0].n, conns[1].n, len(p.conns), p.ticking)
	}

	used := p.pop() // the timer finds nothing while the connection is in use
	p.expire()
	if conns[1].n != 0 || p.ticking {
		t.Errorf("a connection in use was closed %d times, ticking %t", conns[1].n, p.ticking)
	}
	p.put(used)
	if !p.ticking {
		t.Error("nothing will close the connection that is idle again")
	}
}

type closeCounter struct {
	net.Conn
	n int
}

func (c *closeCounter) Close() error {
	c.n++
	return nil
}
