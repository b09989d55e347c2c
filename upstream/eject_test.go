package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// twoBackends is a group of one backend that does what bad says and one that answers.
func twoBackends(t *testing.T, bad http.RoundTripper) (*Group, *observer.ObservedLogs) {
	core, logs := observer.New(zap.InfoLevel)
	return newGroup(t, Config{Policy: "round_robin", Logger: zap.New(core), Backends: []BackendConfig{
		{Addr: "bad", Transport: bad}, {Addr: "good", Transport: &script{steps: []step{{}}}},
	}}), logs
}

func TestFailingBackendIsKeptOutForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &script{steps: []step{{err: errDial}}}
		g, logs := twoBackends(t, bad)
		for range 20 {
			if _, err := send(g, newRequest("POST", "")); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(bad.bodies); n != 3 {
			t.Errorf("tried %d times, want 3", n)
		}
		status := g.Status()[0]
		if status.Ejected != time.Now().Add(10*time.Second) || status.Failed != 3 || g.Status()[1].Served != 20 {
			t.Errorf("status = %+v", g.Status())
		}
		time.Sleep(10*time.Second + 1)
		synctest.Wait()
		send(g, newRequest("POST", ""))
		send(g, newRequest("POST", ""))
		if n := len(bad.bodies); n != 4 {
			t.Errorf("tried %d times, want once more after its time", n)
		}
		if n := logs.FilterMessage("backend ejected").Len(); n != 1 {
			t.Errorf("ejection was logged %d times", n)
		}
		if n := logs.FilterMessage("backend readmitted").Len(); n != 1 {
			t.Errorf("return was logged %d times", n)
		}
		if logs.Len() != 2 {
			t.Errorf("log = %+v", logs.All())
		}
		drain(t, g)
	})
}

func TestBackendThatIsKeptOutIsTheLastResort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &script{steps: []step{{err: errDial}, {err: errDial}, {err: errDial}, {}}}, &script{steps: []step{{}}}
		core, logs := observer.New(zap.InfoLevel)
		g := newGroup(t, Config{Policy: "round_robin", Logger: zap.New(core), Backends: []BackendConfig{
			{Addr: "first", Transport: first}, {Addr: "second", Transport: second},
		}})
		for g.Status()[0].Ejected.IsZero() {
			send(g, newRequest("POST", ""))
		}
		second.steps = []step{{err: errDial}}
		begun := time.Now()
		if _, err := send(g, newRequest("POST", "")); err != nil || time.Since(begun) > 0 {
			t.Errorf("after %v: %v; want the answer of the other at once", time.Since(begun), err)
		}
		if b := g.Status()[0]; !b.Ejected.IsZero() || logs.FilterMessage("backend up").Len() != 1 {
			t.Errorf("it has answered and is still kept out: %+v", b)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := logs.FilterMessage("backend readmitted").Len(); n != 0 {
			t.Errorf("it came back %d times more", n)
		}
		drain(t, g)
	})
}

// A backend that is kept out gets nothing while another has merely too much to do, or has cut one connection.
func TestBackendThatIsKeptOutIsNoOrdinaryChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, in := &script{steps: []step{{err: errDial}}}, &script{steps: []step{{}}}
		g := newGroup(t, Config{Policy: "round_robin", QueueWait: time.Second, Backends: []BackendConfig{
			{Addr: "out", Transport: out}, {Addr: "in", Transport: in, MaxInFlight: 1},
		}})
		for g.Status()[0].Ejected.IsZero() {
			send(g, newRequest("POST", ""))
		}
		in.bodies, in.steps = nil, []step{{err: errCut}, {}}
		if _, err := send(g, newRequest("GET", "")); err != nil {
			t.Error(err)
		}
		held, err := g.RoundTrip(newRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := send(g, newRequest("GET", "")); !errors.Is(err, ErrQueueTimeout) || len(out.bodies) != 3 {
			t.Errorf("%v; the one that is kept out was tried %d times, want 3", err, len(out.bodies))
		}
		held.Body.Close()
		drain(t, g)
	})
}

func TestLastBackendIsNeverKeptOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Config{Backends: []BackendConfig{
			{Addr: "a", Transport: &script{steps: []step{{err: errDial}}}},
			{Addr: "b", Transport: &script{steps: []step{{err: errDial}}}},
		}})
		send(g, newRequest("GET", ""))
		in := 0
		for _, b := range g.Status() {
			if b.Ejected.IsZero() {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%d of 2 failing backends are in, want 1", in)
		}
		time.Sleep(time.Minute)
	})
}

func TestOldFailuresAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := twoBackends(t, &script{steps: []step{{err: errDial}}})
		for range 10 {
			send(g, newRequest("POST", ""))
			send(g, newRequest("POST", ""))
			time.Sleep(6 * time.Second)
		}
		if !g.Status()[0].Ejected.IsZero() {
			t.Error("two failures in 10 s were enough")
		}
	})
}

func TestWhatCountsAsFailure(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	broken := func(*http.Request) (*http.Response, error) {
		return newResponse(io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))), nil
	}
	for _, tc := range []struct {
		name string
		bad  http.RoundTripper
		ctx  context.Context
		want uint64
	}{
		{name: "dial", bad: &script{steps: []step{{err: errDial}, {}}}, want: 1},
		{name: "cut", bad: &script{steps: []step{{err: errCut}}}, want: 1},
		{name: "cut after a byte", bad: &script{steps: []step{{err: errCut, firstByte: true, reused: true}}}, want: 1},
		{name: "too slow", bad: &script{steps: []step{{err: errTimeout, reused: true}}}, want: 1},
		{name: "cut within the body", bad: tripFunc(broken), want: 1},
		{name: "full backlog", bad: &script{steps: []step{{err: errBusy}, {}}}},
		{name: "kept connection ended", bad: &script{steps: []step{{err: errCut, reused: true}, {}}}},
		{name: "refused before dialling", bad: &script{steps: []step{{err: errCut, noConn: true}}}},
		{name: "client left", bad: &script{steps: []step{{err: errCut}}}, ctx: left},
		{name: "500 of the application", bad: tripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 500, Body: http.NoBody}, nil
		})},
	} {
		g := newGroup(t, Config{Backends: oneBackend(tc.bad, 1)})
		r := newRequest("POST", "")
		if tc.ctx != nil {
			r = r.WithContext(tc.ctx)
		}
		_, err := send(g, r)
		if got := g.Status()[0].Failed; got != tc.want {
			t.Errorf("%s: %d failures, want %d (%v)", tc.name, got, tc.want, err)
		}
		drain(t, g)
	}
}

func TestReturningBackendServesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := newGate()
		g := newGroup(t, Config{Policy: "round_robin", QueueWait: time.Minute, Backends: []BackendConfig{
			{Addr: "back", MaxInFlight: 1, Transport: &script{steps: []step{{err: errDial}, {err: errDial}, {err: errDial}, {}}}},
			{Addr: "busy", MaxInFlight: 1, Transport: busy},
		}})
		go send(g, newRequest("POST", "")) // to busy, after back failed
		synctest.Wait()
		begun := time.Now()
		if _, err := send(g, newRequest("POST", "")); err != nil {
			t.Fatal(err)
		}
		if since := time.Since(begun).Round(time.Second); since != 10*time.Second {
			t.Errorf("served after %v, want when the failing backend returned", since)
		}
		close(busy.end)
		drain(t, g)
	})
}

// A second attempt waits for another backend than the first. When that is kept out, with its worker not yet done, there
// is nothing to wait for.
func TestNobodyInsistsOnABackendThatIsKeptOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fate, released := make(chan struct{}), make(chan struct{})
		attempts := 0
		g := newGroup(t, Config{EjectAfter: 2, Policy: "round_robin", Backends: []BackendConfig{
			{Addr: "cuts once", MaxInFlight: 1, Transport: &script{steps: []step{{err: errCut}, {}}}},
			{Addr: "ejected", MaxInFlight: 1, Transport: tripFunc(func(r *http.Request) (*http.Response, error) {
				if attempts++; attempts == 2 {
					<-fate
					return step{err: &fakeError{released: released}}.run(r)
				}
				return step{err: errCut}.run(r)
			})},
		}})
		g.fail(g.backends[1], &Error{Err: errCut})
		attempts = 1
		held, err := g.acquire(t.Context(), &waiter{})
		if err != nil {
			t.Fatal(err)
		}
		go send(g, newRequest("POST", ""))
		synctest.Wait()
		done := make(chan error)
		go func() {
			_, err := send(g, newRequest("GET", ""))
			done <- err
		}()
		synctest.Wait()
		g.release(held)
		synctest.Wait()
		begun := time.Now()
		close(fate)
		if err := <-done; err != nil || time.Since(begun) > time.Second {
			t.Errorf("after %v: %v; want the first backend again", time.Since(begun), err)
		}
		close(released)
		drain(t, g)
	})
}

func TestErrorsSayWhoIsToBlame(t *testing.T) {
	for want, blame := range map[string]Blame{"backend": Backend, "client": Client, "gateway": Gateway} {
		if blame.String() != want {
			t.Errorf("%d = %s", blame, blame)
		}
	}
	err := error(&Error{Op: "dial", Group: "octane", Backend: "127.0.0.1:8000", Err: errors.New("connection refused")})
	if want := "upstream octane: 127.0.0.1:8000: dial: connection refused"; err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}

// A dial may take three seconds where nobody even refuses it. One user every EjectFor is enough to find that out.
func TestOneRequestFindsOutWhetherAGroupIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fate error = errDial
		var tries atomic.Int32
		g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
			tries.Add(1)
			time.Sleep(3 * time.Second)
			return step{err: fate}.run(r)
		}), 0)})
		ask := func(users, want int32) {
			t.Helper()
			before, slow := tries.Load(), int32(0)
			done := make(chan time.Duration)
			for range users {
				go func() {
					begun := time.Now()
					resp, err := g.RoundTrip(newRequest("GET", "").WithContext(WithFallback(t.Context())))
					if err == nil {
						resp.Body.Close()
					}
					done <- time.Since(begun)
				}()
			}
			for range users {
				if <-done > 0 {
					slow++
				}
			}
			if tried := tries.Load() - before; tried != want || slow != want {
				t.Errorf("%d of %d users tried it, %d had to wait; want %d", tried, users, slow, want)
			}
		}
		ask(3, 3)
		ask(10, 0)
		for range 5 {
			time.Sleep(10 * time.Second)
			ask(10, 1)
			ask(10, 0)
		}
		fate = nil
		time.Sleep(10 * time.Second)
		ask(10, 1)
		ask(10, 10)
		drain(t, g)
	})
}

func TestLastBackendThatDoesNotAnswerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		only := newGate()
		dead := false
		g := newGroup(t, Config{QueueWait: time.Second, Logger: zap.New(core), Backends: oneBackend(tripFunc(
			func(r *http.Request) (*http.Response, error) {
				if dead {
					return nil, errDial
				}
				return only.RoundTrip(r)
			}), 0)})
		go send(g, newRequest("GET", "")) // still under way as the others fail
		synctest.Wait()
		dead = true
		begun := time.Now()
		for range 3 {
			send(g, newRequest("GET", ""))
			send(g, newRequest("POST", ""))
		}
		if down := g.Status()[0].Down; down.Sub(begun) > 100*time.Millisecond || down.IsZero() {
			t.Errorf("down since %v, want %v or soon after", down, begun)
		}
		dead = false
		only.end <- struct{}{}
		synctest.Wait()
		if g.Status()[0].Down.IsZero() {
			t.Error("it is up for the answer to a request of before")
		}
		time.Sleep(time.Hour)
		close(only.end)
		if _, err := send(g, newRequest("GET", "")); err != nil || !g.Status()[0].Down.IsZero() {
			t.Errorf("%v; %+v after an answer", err, g.Status()[0])
		}
		warnings, news := logs.FilterMessage("backend down").All(), logs.FilterMessage("backend up").Len()
		if len(warnings) != 1 || news != 1 || logs.Len() != 2 {
			t.Fatalf("log = %+v", logs.All())
		}
		if got := warnings[0].ContextMap()["error"]; got != "upstream test: a: send: fake failure" {
			t.Errorf("the warning says %v", got)
		}
		drain(t, g)
	})
}

// Whoever answers in between is not down, however often it fails.
func TestLastBackendThatAnswersAtTimesIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := step{err: errCut}
		g := newGroup(t, Config{Backends: oneBackend(&script{steps: []step{cut, {}, cut, {}, cut, {}, cut, {}}}, 1)})
		for range 7 {
			send(g, newRequest("POST", ""))
			time.Sleep(time.Second)
			if g.deaf() || !g.Status()[0].Down.IsZero() {
				t.Fatalf("down: %+v", g.Status()[0])
			}
		}
		drain(t, g)
	})
}

func TestOtherBackendThatComesBackLeavesTheDeadOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &script{steps: []step{{err: errDial}}}
		g, _ := twoBackends(t, bad)
		good := g.backends[1].Transport.(*script)
		good.steps = []step{{err: errDial}}
		for range 3 {
			send(g, newRequest("POST", ""))
		}
		good.steps = []step{{}}
		time.Sleep(11 * time.Second)
		for range 20 {
			if _, err := send(g, newRequest("POST", "")); err != nil {
				t.Error(err)
			}
		}
		if s := g.Status(); s[0].Ejected.IsZero() || !s[0].Down.IsZero() || !s[1].Down.IsZero() || !s[1].Ejected.IsZero() {
			t.Errorf("status = %+v", s)
		}
		drain(t, g)
	})
}
