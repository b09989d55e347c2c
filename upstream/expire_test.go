package upstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// One timer serves all, so each of those who wait must still leave at its own deadline, in whatever order they came.
func TestEveryWaiterLeavesAtItsOwnDeadline(t *testing.T) {
	type wait struct {
		arrived, deadline time.Duration // since the beginning
		joins             time.Duration // the queue, later than it arrived when it comes back from a failed attempt
		extended          bool
	}
	for name, waits := range map[string][]wait{
		"in order":               {{0, 10, 0, false}, {1, 11, 1, false}, {1, 11, 1, false}, {2, 12, 2, false}},
		"one comes back":         {{1, 11, 1, false}, {0, 10, 9, false}},
		"too late for anything":  {{1, 11, 1, false}, {0, 2, 5, false}},
		"sent twice, in front":   {{3, 13, 3, false}, {0, 15, 5, true}, {6, 16, 6, false}},
		"sent twice, and no one": {{0, 15, 5, true}},
		"after a pause":          {{0, 10, 0, false}, {40, 50, 40, false}},
		"two sent twice":         {{4, 14, 4, false}, {1, 20, 5, true}, {0, 17, 6, true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, Config{QueueLength: 10, Backends: oneBackend(newGate(), 1)})
			begun := time.Now()
			held, err := g.acquire(t.Context(), &waiter{})
			if err != nil {
				t.Fatal(err)
			}
			left := make(chan error, len(waits))
			for _, w := range waits {
				go func() {
					time.Sleep(w.joins * time.Second)
					_, err := g.exchange(t.Context(), nil, &waiter{
						arrived: begun.Add(w.arrived * time.Second), deadline: begun.Add(w.deadline * time.Second), extended: w.extended,
					})
					if since, want := time.Since(begun)/time.Second, max(w.deadline, w.joins); since != want || !errors.Is(err, ErrQueueTimeout) {
						t.Errorf("%s: %+v left after %d s with %v, want %d s", name, w, since, err, want)
					}
					left <- err
				}()
			}
			for range waits {
				<-left
			}
			g.release(held)
			drain(t, g)
		})
	}
}

func TestServedInTheMomentOfItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Config{Backends: oneBackend(newGate(), 1)})
		for range 100 {
			held, err := g.acquire(t.Context(), &waiter{})
			if err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(time.Second)
			ctx, cancel := context.WithDeadline(t.Context(), deadline)
			time.AfterFunc(time.Second, func() { g.release(held) })
			b, err := g.acquire(ctx, &waiter{deadline: deadline})
			if (b == nil) == (err == nil) {
				t.Fatalf("backend %v and error %v", b, err)
			}
			if b != nil {
				g.release(b)
			}
			cancel()
			synctest.Wait()
		}
		drain(t, g)
	})
}
