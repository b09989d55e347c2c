//go:build stack

package main_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// tight is an upstream of a pool with two children and room for hardly anyone to wait in front of them. What it says
// about the gateway's own queue is in text.
func tight(t *testing.T, text string) *process {
	t.Helper()
	pool := stack.FPM(t, stack.FPMConfig{Children: 2, Backlog: 1})
	return startGateway(t, site(t)+fmt.Sprintf("[upstream.app]\nfastcgi = [%q]\n%s", pool.Address(), text))
}

// storm sends n slow requests at once and returns how many were answered and how many told to come again.
func storm(t *testing.T, v *visitor, n int, path string) (served, refused int) {
	t.Helper()
	for _, o := range together(n, func(int) outcome { return v.get(path) }) {
		again, _ := strconv.Atoi(o.header.Get("Retry-After"))
		switch {
		case o.err == nil && o.status == http.StatusOK:
			served++
		case o.err == nil && o.status == http.StatusServiceUnavailable && again > 0:
			refused++
		default:
			t.Errorf("%s, Retry-After %q; want 200, or 503 with Retry-After", o, o.header.Get("Retry-After"))
		}
	}
	return served, refused
}

// calm checks that nothing of a storm is left.
func calm(t *testing.T, p *process, v *visitor) {
	t.Helper()
	v.prompt()
	eventually(t, "nothing in flight or queued", func() bool { return p.inFlight(t) == 0 && p.upstream(t).Queued == 0 })
	p.harmless(t)
}

func TestWhatDoesNotFitThePoolWaitsAndTheRestIsRefused(t *testing.T) {
	p := tight(t, "max_in_flight = 2\nqueue = 10\n")
	v := visit(t, p)
	served, refused := storm(t, v, 30, "/api/slow/300")
	if served < 12 || refused == 0 {
		t.Errorf("%d served and %d refused, want 12 or a few more, and the rest", served, refused)
	}
	for _, e := range p.access(t, "/api/slow/300", 30) {
		if e.Attempts > 1 {
			t.Errorf("%d attempts, though no more were let in than there are children", e.Attempts)
		}
	}
	calm(t, p, v)
}

// TestCapAboveThePoolsChildren is a configuration that promises what the pool does not have: PHP-FPM's backlog fills
// up, and connecting to it fails with EAGAIN.
func TestCapAboveThePoolsChildren(t *testing.T) {
	p := tight(t, "max_in_flight = 8\nqueue = 10\n")
	v := visit(t, p)
	served, refused := storm(t, v, 40, "/api/slow/300")
	if served < 18 || refused == 0 {
		t.Errorf("%d served and %d refused, want 18 or a few more, and the rest", served, refused)
	}
	again := 0
	for _, e := range p.access(t, "/api/slow/300", 40) {
		if e.Attempts > 1 {
			again++
		}
	}
	if again == 0 {
		t.Error("nobody met a full backlog")
	}
	calm(t, p, v)
}

func TestNobodyWaitsLongerThanTheQueueAllows(t *testing.T) {
	for name, most := range map[string]string{"in the gateway": "2", "for the backlog": "8"} {
		t.Run(name, func(t *testing.T) {
			p := tight(t, "max_in_flight = "+most+"\nqueue_wait = \"400ms\"\n")
			v := visit(t, p)
			begun := time.Now()
			served, refused := storm(t, v, 8, "/api/slow/1500")
			if served < 2 || refused == 0 {
				t.Errorf("%d served and %d refused, want some of each", served, refused)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			calm(t, p, v)
		})
	}
}
