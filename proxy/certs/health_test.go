package certs

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
)

func TestHealthKnowsWhatIsNotMendedYet(t *testing.T) {
	at := &clock{time.Now()}
	h := newHealth(Config{now: at.now}.withDefaults(), []string{"a.example", "b.example"})
	since := at.Time
	say := func(event string, data map[string]any) {
		t.Helper()
		if err := h.event(t.Context(), event, data); err != nil {
			t.Errorf("%s: err = %v", event, err)
		}
	}
	for range 2 {
		say("cert_failed", map[string]any{"identifier": "a.example", "error": errors.New("down"), "renewal": true})
		at.Time = at.Add(time.Hour)
	}
	say("cert_failed", map[string]any{"identifier": "stranger.example", "error": errors.New("down")})
	if f := h.about("a.example"); f == nil || f.text != "down" || !f.since.Equal(since) {
		t.Errorf("failure = %+v, want one since %v", f, since)
	}
	if h.about("b.example") != nil || len(h.hosts) != 1 {
		t.Errorf("failures = %v, want that of a.example alone", h.hosts)
	}
	h.stored(syscall.ENOSPC)
	if f := h.about("b.example"); f == nil || f.text != "storage: no space left on device" {
		t.Errorf("failure = %+v, want the storage's", f)
	}
	h.stored(nil)
	say("cert_ocsp_revoked", map[string]any{"subjects": []string{"b.example"}})
	if f := h.about("b.example"); f == nil || f.text != errRevoked.Error() {
		t.Errorf("failure = %+v, want the revocation", f)
	}
	for _, host := range []string{"a.example", "b.example"} {
		say("cert_obtained", map[string]any{"identifier": host})
		if f := h.about(host); f != nil {
			t.Errorf("%s: failure = %+v after it was mended", host, f)
		}
	}
}

// TestRenewalIsNotRepeatedAtOnce: the library would go on for a month, and hold up all others meanwhile.
func TestRenewalIsNotRepeatedAtOnce(t *testing.T) {
	h := newHealth(Config{}.withDefaults(), nil)
	for _, c := range []struct {
		attempts int
		renewal  bool
		stopped  bool
	}{{0, true, false}, {1, true, true}, {0, false, false}, {1, false, false}} {
		ctx := context.WithValue(t.Context(), certmagic.AttemptsCtxKey, &c.attempts)
		err := h.event(ctx, "cert_obtaining", map[string]any{"identifier": "a.example", "renewal": c.renewal})
		var last certmagic.ErrNoRetry
		if errors.As(err, &last) != c.stopped {
			t.Errorf("attempt %d, renewal %v: err = %v", c.attempts, c.renewal, err)
		}
	}
}
