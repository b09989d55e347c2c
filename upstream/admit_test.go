package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCapAndQueueInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newGate()
		g := newGroup(t, Config{Backends: oneBackend(transport, 2)})
		for i := range 10 {
			go func() {
				r := newRequest("GET", "")
				r.URL.Path = fmt.Sprint("/", i)
				if _, err := send(g, r); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait() // so that it is in its place before the next comes
		}
		if n := len(transport.began); n != 2 {
			t.Errorf("%d in flight, want 2", n)
		}
		if n := g.Queued(); n != 8 {
			t.Errorf("%d queued, want 8", n)
		}
		for i := range 10 {
			if got, want := (<-transport.began).URL.Path, fmt.Sprint("/", i); got != want {
				t.Errorf("request %s was sent, want %s", got, want)
			}
			if i > 0 {
				transport.end <- struct{}{}
			}
			synctest.Wait()
		}
		transport.end <- struct{}{}
		drain(t, g)
	})
}

func TestAFreedSlotServesWhoeverWaitsLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newGate(), newGate()
		g := newGroup(t, Config{Backends: []BackendConfig{
			{Addr: "a", Transport: first, MaxInFlight: 1}, {Addr: "b", Transport: second, MaxInFlight: 1},
		}})
		for range 3 {
			go send(g, newRequest("GET", ""))
			synctest.Wait()
		}
		<-second.began
		second.end <- struct{}{}
		<-second.began // the third, though it had waited for either
		close(first.end)
		close(second.end)
		drain(t, g)
	})
}

func TestFullQueueIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newGate()
		g := newGroup(t, Config{Backends: oneBackend(transport, 1), QueueLength: 1, QueueWait: 7 * time.Second})
		go send(g, newRequest("GET", ""))
		go send(g, newRequest("GET", ""))
		synctest.Wait()
		_, err := send(g, newRequest("GET", ""))
		e := asError(t, err)
		if !errors.Is(err, ErrQueueFull) || e.RetryAfter() != 7*time.Second || e.Blame != Gateway || e.Timeout() {
			t.Errorf("error = %v, retry after %v, blame %v, timeout %v", err, e.RetryAfter(), e.Blame, e.Timeout())
		}
		close(transport.end)
		drain(t, g)
	})
}

func TestQueueHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newGate()
		g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
		go send(g, newRequest("GET", ""))
		synctest.Wait()
		begun := time.Now()
		var trace Trace
		r := newRequest("GET", "")
		_, err := send(g, r.WithContext(WithTrace(t.Context(), &trace)))
		if !errors.Is(err, ErrQueueTimeout) || time.Since(begun) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if trace.Queue != 10*time.Second || trace.Attempts != 0 {
			t.Errorf("trace = %+v", trace)
		}
		if e := asError(t, err); e.Timeout() || e.RetryAfter() == 0 {
			t.Errorf("Timeout = %v, RetryAfter = %v; want what 503 needs", e.Timeout(), e.RetryAfter())
		}
		close(transport.end)
		drain(t, g)
	})
}

func TestClientThatLeavesTheQueueGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newGate()
		g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
		go send(g, newRequest("GET", ""))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := send(g, newRequest("GET", "").WithContext(ctx))
			left <- err
		}()
		go send(g, newRequest("POST", ""))
		synctest.Wait()
		cancel()
		err := <-left
		if e := asError(t, err); e.Blame != Client || !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, blame %v", err, e.Blame)
		}
		<-transport.began
		transport.end <- struct{}{}
		if r := <-transport.began; r.Method != "POST" {
			t.Errorf("%s was sent, but its client had left", r.Method)
		}
		close(transport.end)
		drain(t, g)
	})
}

func TestSlotIsHeldUntilTheBodyEnds(t *testing.T) {
	for name, end := range map[string]func(*http.Response){
		"read to the end": func(r *http.Response) { io.Copy(io.Discard, r.Body) },
		"closed early":    func(r *http.Response) { r.Body.Close() },
		"both":            func(r *http.Response) { io.Copy(io.Discard, r.Body); r.Body.Close(); r.Body.Close() },
	} {
		transport := tripFunc(func(*http.Request) (*http.Response, error) {
			return newResponse(io.NopCloser(strings.NewReader("body"))), nil
		})
		g := newGroup(t, Config{Backends: oneBackend(transport, 3)})
		resp, err := g.RoundTrip(newRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if n := g.Status()[0].InFlight; n != 1 {
			t.Errorf("%s: %d in flight before", name, n)
		}
		end(resp)
		if n := g.Status()[0].InFlight; n != 0 {
			t.Errorf("%s: %d in flight after", name, n)
		}
	}
}

// lingering is a body whose backend goes on working after it was closed.
type lingering struct {
	io.ReadCloser
	released chan struct{}
}

func (l lingering) Released() <-chan struct{} { return l.released }

func TestSlotIsHeldUntilTheBackendHasLetGo(t *testing.T) {
	released := make(chan struct{})
	for name, transport := range map[string]tripFunc{
		"of a body": func(*http.Request) (*http.Response, error) {
			return newResponse(lingering{http.NoBody, released}), nil
		},
		"of a cancelled request": func(*http.Request) (*http.Response, error) {
			return nil, &fakeError{released: released}
		},
	} {
		g := newGroup(t, Config{Backends: oneBackend(transport, 1), QueueLength: 1})
		if resp, err := g.RoundTrip(newRequest("POST", "")); err == nil {
			resp.Body.Close()
		}
		if n := g.Status()[0].InFlight; n != 1 {
			t.Errorf("%s: %d in flight while the worker is busy", name, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := send(g, newRequest("GET", "").WithContext(ctx)); asError(t, err).Op != "queue" {
			t.Errorf("%s: the next request was let in: %v", name, err)
		}
		close(released)
		drain(t, g)
		released = make(chan struct{})
	}
}

func TestPanicFreesTheSlot(t *testing.T) {
	g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(*http.Request) (*http.Response, error) {
		panic("boom")
	}), 1)})
	for range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			g.RoundTrip(newRequest("POST", "body"))
		}()
	}
	drain(t, g)
}

func TestCloseWaitsForWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newGate()
		g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
		go send(g, newRequest("GET", ""))
		go send(g, newRequest("GET", ""))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Close(ctx); err != context.DeadlineExceeded {
			t.Errorf("Close = %v while requests were under way", err)
		}
		close(transport.end)
		drain(t, g)
		if _, err := send(g, newRequest("GET", "")); err != nil {
			t.Errorf("a request that began before the reload = %v", err)
		}
		drain(t, g)
	})
}

func TestDrainedGroupKeepsNoConnections(t *testing.T) {
	transport := &script{steps: []step{{}}}
	g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
	drain(t, g)
	before := transport.closedIdles
	if _, err := send(g, newRequest("GET", "")); err != nil {
		t.Fatal(err)
	}
	if before == 0 || transport.closedIdles == before {
		t.Errorf("idle connections were closed %d times before a late request, %d after", before, transport.closedIdles)
	}
}

func TestGroupWithoutQueueRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := &script{steps: []step{{}}}
		g := newGroup(t, Config{QueueLength: -1, Backends: []BackendConfig{{Addr: "a", Transport: held, MaxInFlight: 1}}})
		first, err := g.RoundTrip(newRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := send(g, newRequest("GET", "")); !errors.Is(err, ErrQueueFull) {
			t.Errorf("err = %v, want ErrQueueFull", err)
		}
		first.Body.Close()
		drain(t, g)
	})
}
