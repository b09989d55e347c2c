package upstream

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chaos is a transport that does anything that a transport may do.
type chaos struct {
	most     int32 // how many it may be given at once
	inFlight atomic.Int32
	exceeded atomic.Bool
}

// chaosBody frees its worker, like FPM's, some time after it was closed early.
type chaosBody struct {
	io.Reader
	t        *chaos
	released chan struct{}
	once     sync.Once
}

func (b *chaosBody) Released() <-chan struct{} { return b.released }

func (b *chaosBody) release() {
	b.once.Do(func() {
		b.t.inFlight.Add(-1)
		close(b.released)
	})
}

func (b *chaosBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.release()
	}
	return n, err
}

func (b *chaosBody) Close() error {
	time.AfterFunc(time.Duration(rand.IntN(int(time.Millisecond))), b.release)
	return nil
}

func (t *chaos) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.inFlight.Add(1) > t.most {
		t.exceeded.Store(true)
	}
	if rand.IntN(4) == 0 {
		select {
		case <-time.After(time.Duration(rand.IntN(int(time.Millisecond)))):
		case <-r.Context().Done():
		}
	}
	body := &chaosBody{Reader: strings.NewReader("body"), t: t, released: make(chan struct{})}
	what := rand.IntN(20)
	if r.Context().Err() != nil {
		body.Close()
		return nil, &fakeError{released: body.released}
	}
	if what < 10 {
		s := step{}
		resp, err := s.run(r)
		resp.Body = body
		return resp, err
	}
	body.release()
	switch what {
	case 10:
		return step{err: errDial}.run(r)
	case 11:
		return step{err: errBusy}.run(r)
	case 12:
		return step{err: errCut}.run(r)
	case 13:
		return step{err: errCut, reused: true}.run(r)
	case 14:
		return step{err: errTimeout}.run(r)
	case 15:
		panic("chaos")
	case 16:
		return newResponse(http.NoBody), nil
	}
	return step{}.run(r)
}

// chaosClient does anything that a client may do.
func chaosClient(t *testing.T, g *Group) {
	defer func() {
		if p := recover(); p != nil && p != "chaos" {
			t.Errorf("panic: %v", p)
		}
	}()
	ctx := t.Context()
	switch rand.IntN(5) {
	case 0:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(int(2*time.Millisecond))))
		defer cancel()
	case 1:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		time.AfterFunc(time.Duration(rand.IntN(int(time.Millisecond))), cancel)
	}
	r := newRequest([]string{"GET", "POST"}[rand.IntN(2)], "request").WithContext(ctx)
	resp, err := g.RoundTrip(r)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("error = %v (%T)", err, err)
		}
		return
	}
	defer resp.Body.Close()
	switch rand.IntN(3) {
	case 0:
		io.Copy(io.Discard, resp.Body)
	case 1:
		go resp.Body.Close()
	}
}

func TestNoSlotIsEverLost(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	for _, policy := range []string{"round_robin", "least_in_flight", "power_of_two", "hash"} {
		transports := []*chaos{{most: 1}, {most: 3}, {most: 5}}
		var backends []BackendConfig
		for i, transport := range transports {
			backends = append(backends, BackendConfig{
				Addr: string(rune('a' + i)), Transport: transport, MaxInFlight: int(transport.most),
			})
		}
		g := newGroup(t, Config{
			Policy: policy, HashKey: func(r *http.Request) string { return r.Method },
			Backends: backends, QueueLength: 40, QueueWait: 20 * time.Millisecond,
			EjectAfter: 3, EjectWindow: time.Second, EjectFor: 5 * time.Millisecond,
		})
		var clients sync.WaitGroup
		for range 64 {
			clients.Go(func() {
				for range 60 {
					chaosClient(t, g)
				}
			})
		}
		clients.Wait()
		drain(t, g)
		for i, transport := range transports {
			if transport.exceeded.Load() {
				t.Errorf("%s: backend %d had more in flight than its cap", policy, i)
			}
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
}

func TestOverloadedHTTPBackend(t *testing.T) {
	var inFlight, most atomic.Int32
	addr, _ := httpBackend(t, func(w http.ResponseWriter, r *http.Request) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	})
	g := newGroup(t, Config{Backends: oneBackend(newHTTP(t, HTTPConfig{Address: addr}), 4), QueueLength: 200})
	var clients sync.WaitGroup
	for i := range 64 {
		clients.Go(func() {
			body := strings.Repeat(string(rune('a'+i%26)), 1+i*1000)
			for range 20 {
				if got, err := send(g, newRequest("POST", body)); got != body || err != nil {
					t.Errorf("sent %d bytes, got %d, %v", len(body), len(got), err)
				}
			}
		})
	}
	clients.Wait()
	drain(t, g)
	if n := most.Load(); n > 4 {
		t.Errorf("%d at once, want at most 4", n)
	}
}
