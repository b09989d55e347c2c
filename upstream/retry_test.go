package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsRepeated(t *testing.T) {
	cut := step{err: errCut}
	stale := step{err: errCut, reused: true}
	slow := step{err: errTimeout}
	for _, tc := range []struct {
		name    string
		method  string
		header  string
		first   step
		want    int // attempts
		freshly bool
	}{
		{name: "dial failure of any method", method: "POST", first: step{err: errDial}, want: 2},
		{name: "full backlog of any method", method: "POST", first: step{err: errBusy}, want: 2},
		{name: "dial failure of an upgrade", method: "GET", header: "Upgrade", first: step{err: errDial}, want: 2},
		{name: "kept connection ended, GET", method: "GET", first: stale, want: 2, freshly: true},
		{name: "kept connection ended, HEAD", method: "HEAD", first: stale, want: 2, freshly: true},
		{name: "kept connection ended, OPTIONS", method: "OPTIONS", first: stale, want: 2, freshly: true},
		{name: "kept connection ended, TRACE", method: "TRACE", first: stale, want: 2, freshly: true},
		{name: "kept connection ended, POST", method: "POST", first: stale, want: 1},
		{name: "kept connection ended, PUT", method: "PUT", first: stale, want: 1},
		{name: "kept connection ended, POST with a key", method: "POST", header: "Idempotency-Key", first: stale,
			want: 2, freshly: true},
		{name: "kept connection ended, upgrade", method: "GET", header: "Upgrade", first: stale, want: 1},
		{name: "new connection ended, GET", method: "GET", first: cut, want: 2},
		{name: "new connection ended, HEAD", method: "HEAD", first: cut, want: 2},
		{name: "new connection ended, OPTIONS", method: "OPTIONS", first: cut, want: 1},
		{name: "new connection ended, DELETE", method: "DELETE", first: cut, want: 1},
		{name: "new connection ended, POST with a key", method: "POST", header: "Idempotency-Key", first: cut, want: 1},
		{name: "new connection ended, upgrade", method: "GET", header: "Upgrade", first: cut, want: 1},
		{name: "too slow", method: "GET", first: slow, want: 1},
		{name: "too slow on a kept connection", method: "GET", first: step{err: errTimeout, reused: true}, want: 1},
		{name: "after a byte of the answer", method: "GET", first: step{err: errCut, firstByte: true}, want: 1},
		{name: "after a byte on a kept connection", method: "GET",
			first: step{err: errCut, reused: true, firstByte: true}, want: 1},
		{name: "refused before dialling", method: "GET", first: step{err: errCut, noConn: true}, want: 1},
		{name: "copy of live traffic", method: "GET", header: "once", first: step{err: errDial}, want: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			transport := &script{steps: []step{tc.first, {}}}
			g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
			body := "body"
			r := newRequest(tc.method, body)
			switch tc.header {
			case "Upgrade":
				r.Header.Set("Connection", "keep-alive, Upgrade")
				r.Header.Set("Upgrade", "websocket")
				r.Body, r.ContentLength, body = http.NoBody, 0, ""
			case "once":
				r = r.WithContext(WithoutRetry(t.Context()))
			case "Idempotency-Key":
				r.Header.Set("Idempotency-Key", "7")
			}
			_, err := send(g, r)
			if got := len(transport.bodies); got != tc.want || (err == nil) != (tc.want == 2) {
				t.Errorf("%d attempts, want %d; error %v", got, tc.want, err)
			}
			if (transport.closedIdles > 0) != tc.freshly {
				t.Errorf("idle connections closed %d times, want a fresh one: %v", transport.closedIdles, tc.freshly)
			}
			for i, got := range transport.bodies {
				if got != body {
					t.Errorf("attempt %d had body %q", i+1, got)
				}
			}
			if err != nil {
				asError(t, err)
			}
			drain(t, g)
		})
	}
}

func TestSentTwiceAtMost(t *testing.T) {
	for _, reused := range []bool{false, true} {
		transport := &script{steps: []step{{err: errCut, reused: reused}}}
		g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
		_, err := send(g, newRequest("GET", ""))
		if len(transport.bodies) != 2 || !errors.Is(err, errCut) {
			t.Errorf("%d attempts, %v", len(transport.bodies), err)
		}
		drain(t, g)
	}
}

func TestOtherBackendsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		var backends []BackendConfig
		for _, addr := range []string{"a", "b", "c"} {
			backends = append(backends, BackendConfig{Addr: addr, MaxInFlight: 1, Transport: tripFunc(
				func(r *http.Request) (*http.Response, error) {
					order = append(order, addr)
					if len(order) <= 3 {
						return nil, errDial
					}
					return newResponse(http.NoBody), nil
				})})
		}
		g := newGroup(t, Config{Backends: backends, Policy: "round_robin"})
		begun := time.Now()
		var trace Trace
		_, err := send(g, newRequest("POST", "x").WithContext(WithTrace(t.Context(), &trace)))
		slices.Sort(order[:3])
		if got := strings.Join(order[:3], ""); err != nil || got != "abc" {
			t.Errorf("first round %s, %v; want each once", got, err)
		}
		if since := time.Since(begun); since != firstBackoff || trace.Queue != since {
			t.Errorf("took %v, of that waiting %v; want one pause, after the first round", since, trace.Queue)
		}
		if trace.Attempts != 4 || trace.Backend != order[3] || len(trace.Failures) != 3 {
			t.Errorf("trace = %+v", trace)
		}
		if got := trace.Failures[0].Error(); got != "upstream test: a: send: fake failure" {
			t.Errorf("first failure reads %q", got)
		}
		drain(t, g)
	})
}

// The processes of a server that is killed do not end in one moment: for a few milliseconds those that are left accept
// connections and break them off.
func TestLastAttemptIsNotLostOnADyingBackend(t *testing.T) {
	for _, reused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
				switch since := time.Since(begun); {
				case since < 50*time.Millisecond:
					return step{err: errCut, reused: reused}.run(r)
				case since < time.Second:
					return nil, errDial
				}
				return newResponse(http.NoBody), nil
			}), 1)})
			if _, err := send(g, newRequest("GET", "")); err != nil {
				t.Errorf("reused %v: %v", reused, err)
			}
			drain(t, g)
		})
	}
}

func TestClientLeavesBeforeTheSecondAttempt(t *testing.T) {
	for _, reused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			transport := &script{steps: []step{{err: errCut, reused: reused}}}
			g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
			ctx, cancel := context.WithTimeout(t.Context(), dying/2)
			defer cancel()
			if _, err := send(g, newRequest("GET", "").WithContext(ctx)); err == nil || len(transport.bodies) != 1 {
				t.Errorf("%d attempts, %v", len(transport.bodies), err)
			}
			drain(t, g)
		})
	}
}

func TestRepeatedRequestPrefersAnotherBackend(t *testing.T) {
	bad, good := &script{steps: []step{{err: errCut}}}, &script{steps: []step{{}}}
	g := newGroup(t, Config{Policy: "round_robin", Backends: []BackendConfig{
		{Addr: "bad", Transport: bad}, {Addr: "good", Transport: good},
	}})
	if _, err := send(g, newRequest("GET", "")); err != nil || len(bad.bodies) != 1 || len(good.bodies) != 1 {
		t.Errorf("bad tried %d times, good %d times, %v", len(bad.bodies), len(good.bodies), err)
	}
}

func TestRepeatedRequestWaitsForAnotherBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := &script{steps: []step{{err: errCut}, {}}}, newGate()
		g := newGroup(t, Config{Policy: "hash", HashKey: func(r *http.Request) string { return r.URL.Path }, Backends: []BackendConfig{
			{Addr: "bad", Transport: bad, MaxInFlight: 1}, {Addr: "good", Transport: good, MaxInFlight: 1},
		}})
		go send(g, toBackend(g, 1))
		held := <-good.began
		repeated := make(chan error)
		go func() {
			_, err := send(g, toBackend(g, 0))
			repeated <- err
		}()
		synctest.Wait()
		if len(bad.bodies) != 1 || g.Queued() != 1 {
			t.Errorf("bad tried %d times, %d queued; want the retry to wait for good", len(bad.bodies), g.Queued())
		}
		// Who comes later and does not mind is not held up by it.
		if _, err := send(g, toBackend(g, 0)); err != nil || len(bad.bodies) != 2 {
			t.Errorf("the next request: bad tried %d times, %v", len(bad.bodies), err)
		}
		good.end <- struct{}{}
		if again := <-good.began; again == held {
			t.Error("the same request twice")
		}
		good.end <- struct{}{}
		if err := <-repeated; err != nil {
			t.Error(err)
		}
		drain(t, g)
	})
}

// toBackend makes a GET that the hash policy of g gives to its backend i.
func toBackend(g *Group, i int) *http.Request {
	for n := 0; ; n++ {
		r := newRequest("GET", "")
		r.URL.Path = fmt.Sprint("/", n)
		if g.policy.pick(hash64(r.URL.Path), g.backends).index == i {
			return r
		}
	}
}

func TestBackendThatRestartsIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(*http.Request) (*http.Response, error) {
			if time.Since(begun) < 3*time.Second {
				return nil, errDial
			}
			return newResponse(http.NoBody), nil
		}), 1)})
		if _, err := send(g, newRequest("POST", "order")); err != nil {
			t.Fatal(err)
		}
		if since := time.Since(begun); since > 3*time.Second+lastBackoff {
			t.Errorf("noticed after %v", since)
		}
		drain(t, g)
	})
}

func TestNothingAnswersInTime(t *testing.T) {
	for _, tc := range []struct {
		failure error
		is      error
		blame   Blame
		later   time.Duration
	}{
		{errDial, errDial, Backend, 0},
		{errBusy, ErrQueueTimeout, Gateway, 10 * time.Second},
		{&Error{Op: "dial", Err: syscall.EAGAIN, safe: true}, ErrQueueTimeout, Gateway, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, Config{Backends: oneBackend(&script{steps: []step{{err: tc.failure, noConn: true}}}, 1)})
			begun := time.Now()
			var trace Trace
			_, err := send(g, newRequest("GET", "").WithContext(WithTrace(t.Context(), &trace)))
			e := asError(t, err)
			if len(trace.Failures) != trace.Attempts-1 {
				t.Errorf("%d attempts, %d failures before the last", trace.Attempts, len(trace.Failures))
			}
			if !errors.Is(err, tc.is) || e.Blame != tc.blame || e.RetryAfter() != tc.later || e.Timeout() {
				t.Errorf("error = %v, blame %v, retry after %v, timeout %v", err, e.Blame, e.RetryAfter(), e.Timeout())
			}
			if since := time.Since(begun); since < 9*time.Second || since > 10*time.Second {
				t.Errorf("gave up after %v", since)
			}
			drain(t, g)
		})
	}
}

func TestClientsOfADeadBackendDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Config{QueueLength: 5, Backends: oneBackend(tripFunc(
			func(*http.Request) (*http.Response, error) { return nil, errDial }), 0)})
		for range 5 {
			go send(g, newRequest("GET", ""))
		}
		synctest.Wait()
		if n := g.Queued(); n != 5 {
			t.Errorf("%d wait, want 5", n)
		}
		begun := time.Now()
		if _, err := send(g, newRequest("GET", "")); !errors.Is(err, errDial) || time.Since(begun) > 0 {
			t.Errorf("the sixth got %v after %v", err, time.Since(begun))
		}
		drain(t, g)
	})
}

func TestClientLeavesDuringThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Config{Backends: oneBackend(&script{steps: []step{{err: errDial}}}, 1)})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, context.Canceled)
		defer cancel()
		_, err := send(g, newRequest("GET", "").WithContext(ctx))
		if e := asError(t, err); !errors.Is(err, context.Canceled) || e.Blame != Gateway {
			t.Errorf("error = %v, blame %v", err, e.Blame)
		}
		drain(t, g)
	})
}

func TestRetriedRequestKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		first := make(chan struct{})
		g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
			order = append(order, r.Method)
			if len(order) == 1 {
				<-first
				return step{err: errCut}.run(r)
			}
			return newResponse(http.NoBody), nil
		}), 1)})
		for _, method := range []string{"GET", "POST", "PUT"} {
			go send(g, newRequest(method, ""))
			synctest.Wait()
			time.Sleep(time.Millisecond) // the bubble's time: so that they arrive one after the other
		}
		close(first)
		drain(t, g)
		if got := fmt.Sprint(order); got != "[GET GET POST PUT]" {
			t.Errorf("order = %s", got)
		}
	})
}

func TestRetryWaitsForTheWorkerOfTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		attempts := 0
		g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				return step{err: &fakeError{released: released}}.run(r)
			}
			return newResponse(http.NoBody), nil
		}), 1)})
		done := make(chan error)
		go func() {
			_, err := send(g, newRequest("GET", ""))
			done <- err
		}()
		synctest.Wait()
		if attempts != 1 {
			t.Errorf("%d attempts while the worker was busy with the first", attempts)
		}
		close(released)
		if err := <-done; err != nil || attempts != 2 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		drain(t, g)
	})
}
