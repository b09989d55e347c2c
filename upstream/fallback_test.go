package upstream

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func refusing() tripFunc {
	return func(r *http.Request) (*http.Response, error) {
		r.Body.Close()
		return nil, errDial
	}
}

// withFallback sends r to first, and to second when first says so.
func withFallback(t *testing.T, first, second *Group, r *http.Request) (string, error) {
	t.Helper()
	resp, err := first.RoundTrip(r.WithContext(WithFallback(r.Context())))
	if again, ok := Elsewhere(r, err); ok {
		return send(second, again)
	}
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// openFiles are those of this process that lead into dir.
func openFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

func TestDeadGroupHandsTheRequestOver(t *testing.T) {
	for name, size := range map[string]int{"no body": 0, "in memory": 1000, "on disk": 200_000} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			first := newGroup(t, Config{SpoolDir: dir, Backends: []BackendConfig{
				{Addr: "a", Transport: refusing(), MaxInFlight: 1}, {Addr: "b", Transport: refusing()},
			}})
			second := newGroup(t, Config{SpoolDir: "/nonexistent", Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
				if r.ContentLength != int64(size) {
					t.Errorf("%s: length = %d, want %d", name, r.ContentLength, size)
				}
				return newResponse(r.Body), nil
			}), 1)})
			sent := bytes.Repeat([]byte("0123456789"), size/10)
			r := newRequest("POST", "")
			r.Body, r.ContentLength = io.NopCloser(iotest.OneByteReader(bytes.NewReader(sent))), -1
			begun := time.Now()
			got, err := withFallback(t, first, second, r)
			if err != nil || got != string(sent) || time.Since(begun) > 0 {
				t.Errorf("%s: after %v: %d bytes, %v; want %d at once", name, time.Since(begun), len(got), err, size)
			}
			drain(t, first)
			drain(t, second)
			if n := openFiles(t, dir); n != 0 {
				t.Errorf("%s: %d files of the spool are still open", name, n)
			}
		})
	}
}

func TestHandedOverBodyIsOneForAnybody(t *testing.T) {
	dir := t.TempDir()
	g := newGroup(t, Config{SpoolDir: dir, SpoolMemory: 10, Backends: oneBackend(refusing(), 1)})
	for _, read := range []bool{true, false} {
		r := newRequest("POST", strings.Repeat("x", 100))
		_, err := g.RoundTrip(r.WithContext(WithFallback(t.Context())))
		again, ok := Elsewhere(r, err)
		if !ok {
			t.Fatal(err)
		}
		if read {
			if body, err := io.ReadAll(again.Body); len(body) != 100 || err != nil || again.ContentLength != 100 {
				t.Errorf("%d bytes, %v; length %d", len(body), err, again.ContentLength)
			}
		}
		again.Body.Close()
		again.Body.Close()
		if n := openFiles(t, dir); n != 0 {
			t.Errorf("%d files of the spool are open after Close", n)
		}
	}
}

func TestUpgradeIsHandedOverUnread(t *testing.T) {
	first, second := newGroup(t, Config{Backends: oneBackend(refusing(), 1)}), newGroup(t, Config{Backends: oneBackend(
		tripFunc(func(r *http.Request) (*http.Response, error) { return newResponse(r.Body), nil }), 1)})
	body := &closeRecorder{Reader: strings.NewReader("early")}
	r := newRequest("GET", "")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Body, r.ContentLength = body, 5
	resp, err := first.RoundTrip(r.WithContext(WithFallback(t.Context())))
	again, ok := Elsewhere(r, err)
	if resp != nil || !ok || body.closed {
		t.Fatalf("%v, %v; closed %v", resp, err, body.closed)
	}
	if got, err := send(second, again); got != "early" || err != nil || !body.closed {
		t.Errorf("the second group got %q, %v; closed %v", got, err, body.closed)
	}
}

func TestWhatIsNotHandedOver(t *testing.T) {
	for _, tc := range []struct {
		name, method string
		steps        []step
	}{
		{"POST that was cut", "POST", []step{{err: errCut}, {err: errDial}}},
		{"POST on a kept connection that ended", "POST", []step{{err: errCut, reused: true}, {err: errDial}}},
		{"GET that was cut twice", "GET", []step{{err: errCut}, {err: errCut}}},
		{"GET that took too long", "GET", []step{{err: errTimeout}, {err: errDial}}},
		{"full backlog", "GET", []step{{err: errBusy}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := newGroup(t, Config{Backends: oneBackend(&script{steps: tc.steps}, 1)})
			second := &script{steps: []step{{}}}
			if _, err := withFallback(t, first, newGroup(t, Config{Backends: oneBackend(second, 1)}), newRequest(tc.method, "")); err == nil {
				t.Errorf("%s: sent %d times to the second group", tc.name, len(second.bodies))
			}
			drain(t, first)
		})
	}
}

// A GET whose backend dies under it is sent once more, and that attempt may be the other group's. There is no third.
func TestSecondAttemptMayBeAnotherGroups(t *testing.T) {
	for _, tc := range []struct {
		then []step
		want int
		ok   bool
	}{
		{[]step{{}}, 1, true},
		{[]step{{err: errDial}, {}}, 2, true},
		{[]step{{err: errCut}, {}}, 1, false},
		{[]step{{err: errCut, reused: true}, {}}, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := newGroup(t, Config{Backends: oneBackend(&script{steps: []step{{err: errCut}, {err: errDial}}}, 1)})
			second := &script{steps: tc.then}
			_, err := withFallback(t, first, newGroup(t, Config{Backends: oneBackend(second, 1)}), newRequest("GET", ""))
			if len(second.bodies) != tc.want || (err == nil) != tc.ok {
				t.Errorf("%+v: %d attempts, %v; want %d", tc.then, len(second.bodies), err, tc.want)
			}
			drain(t, first)
		})
	}
}

// occupied is a group that is down after one failure, and has its only slot taken until end is called.
func occupied(t *testing.T) (g *Group, end func()) {
	fate := make(chan step)
	g = newGroup(t, Config{EjectAfter: 1, EjectFor: time.Minute, Backends: oneBackend(tripFunc(
		func(r *http.Request) (*http.Response, error) { return (<-fate).run(r) }), 1)})
	go send(g, newRequest("POST", ""))
	synctest.Wait()
	return g, func() {
		fate <- step{err: errCut}
		synctest.Wait()
	}
}

func TestWhoWaitsLeavesAGroupThatGoesDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, fail := occupied(t)
		second := &script{steps: []step{{}}}
		other := newGroup(t, Config{Backends: oneBackend(second, 1)})
		done := make(chan error)
		go func() {
			_, err := withFallback(t, first, other, newRequest("POST", "order"))
			done <- err
		}()
		synctest.Wait()
		if n := first.Queued(); n != 1 {
			t.Fatalf("%d queued, want 1", n)
		}
		begun := time.Now()
		fail()
		if err := <-done; err != nil || time.Since(begun) > 0 || len(second.bodies) != 1 || second.bodies[0] != "order" {
			t.Errorf("after %v: %v; the other group got %q", time.Since(begun), err, second.bodies)
		}
		drain(t, first)
	})
}

func TestNobodyWithAFallbackWaitsForAGroupThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, fail := occupied(t)
		fail()
		held, err := first.acquire(t.Context(), &waiter{})
		if err != nil {
			t.Fatal(err)
		}
		second := &script{steps: []step{{}}}
		begun := time.Now()
		_, err = withFallback(t, first, newGroup(t, Config{Backends: oneBackend(second, 1)}), newRequest("POST", "order"))
		if err != nil || time.Since(begun) > 0 || len(second.bodies) != 1 {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		// Who has none waits, and is not told in the end that it is busy.
		_, err = send(first, newRequest("GET", ""))
		e := asError(t, err)
		if time.Since(begun) != 10*time.Second || !errors.Is(err, ErrUnreachable) || !errors.Is(err, errCut) ||
			e.Blame != Backend || e.RetryAfter() != 0 {
			t.Errorf("after %v: %v, blame %v, retry after %v", time.Since(begun), err, e.Blame, e.RetryAfter())
		}
		first.release(held)
		drain(t, first)
	})
}
