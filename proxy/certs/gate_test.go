package certs

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
)

// application allows what begins with "t", and is broken for "broken.example".
func application(t *testing.T, asked *[]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("domain")
		*asked = append(*asked, name)
		switch {
		case name == "broken.example":
			w.WriteHeader(http.StatusBadGateway)
		case name == "moved.example":
			http.Redirect(w, r, "/?domain=tenant.example", http.StatusFound)
		case name[0] == 't' && r.URL.Query().Get("key") == "k":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/?key=k"
}

func newTestGate(t *testing.T, at *clock, demand OnDemand) *gate {
	t.Helper()
	m := newManager(t, Config{
		Hosts: []string{"*"}, Storage: t.TempDir(), TLSPort: 443, OnDemand: demand, now: at.now,
	})
	return newGate(Config{OnDemand: demand, now: at.now}, m.acme.demand)
}

func TestOnlyPublicNamesAreAskedFor(t *testing.T) {
	var asked []string
	g := newTestGate(t, &clock{time.Now()}, OnDemand{Permission: application(t, &asked)})
	for _, name := range []string{"", "tenant", "t.test", "t.localhost", "10.0.0.1", "8.8.8.8", "::1", "*.tenant.example", "t..example.", "t/../x.example;", "t/x.example", "t_x.example", "t?x.example", "T.example", "tü.example"} {
		if err := g.decide(t.Context(), name); err == nil {
			t.Errorf("%q is allowed", name)
		}
	}
	if len(asked) != 0 {
		t.Errorf("asked for %q", asked)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	var asked []string
	at := &clock{time.Now()}
	p := newPermission(Config{OnDemand: OnDemand{Permission: application(t, &asked), Cache: time.Hour}, now: at.now})
	count := func(name string, want int, wanted error) {
		t.Helper()
		before := len(asked)
		for range 3 {
			if err := p.ask(t.Context(), name); !errors.Is(err, wanted) {
				t.Errorf("%s: err = %v, want %v", name, err, wanted)
			}
		}
		if got := len(asked) - before; got != want {
			t.Errorf("%s: asked %d times, want %d", name, got, want)
		}
	}
	count("tenant.example", 1, nil)
	count("stranger.example", 1, errNotAllowed)
	count("moved.example", 1, errNotAllowed) // a redirect is no permission
	at.Time = at.Add(refusalHolds)
	count("tenant.example", 0, nil)
	count("stranger.example", 1, errNotAllowed)
	at.Time = at.Add(time.Hour)
	count("tenant.example", 1, nil)

	if err := p.ask(t.Context(), "broken.example"); err == nil || errors.Is(err, errNotAllowed) {
		t.Errorf("broken application: err = %v", err)
	}
	if _, known := p.remembered("broken.example"); known {
		t.Error("a fault was remembered as an answer")
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	var asked []string
	at := &clock{time.Now()}
	p := newPermission(Config{OnDemand: OnDemand{Permission: application(t, &asked)}, now: at.now})
	for i := range 3 * asksAtOnce {
		p.ask(t.Context(), fmt.Sprintf("name%d.example", i))
	}
	if len(asked) != asksAtOnce {
		t.Errorf("asked %d times, want %d", len(asked), asksAtOnce)
	}
	if err := p.ask(t.Context(), "tenant.example"); !errors.Is(err, errTooManyAsks) {
		t.Errorf("err = %v, want errTooManyAsks", err)
	}
	at.Time = at.Add(time.Second)
	if err := p.ask(t.Context(), "tenant.example"); err != nil {
		t.Errorf("a second later: %v", err)
	}
	for i := range answersKept {
		p.remember(fmt.Sprint(i), false)
	}
	if len(p.answers) > answersKept {
		t.Errorf("%d answers kept, want %d at most", len(p.answers), answersKept)
	}
}

func TestNewCertificatesAreBoundedAndOldOnesAreNot(t *testing.T) {
	var asked []string
	at := &clock{time.Now()}
	g := newTestGate(t, at, OnDemand{Permission: application(t, &asked), PerMinute: 2})
	stored := certmagic.StorageKeys.SiteCert(g.magic.Issuers[0].IssuerKey(), "told.example")
	if err := g.magic.Storage.Store(t.Context(), stored, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, errTooManyNew, errTooManyNew} {
		if err := g.decide(t.Context(), fmt.Sprintf("t%d.example", i)); !errors.Is(err, want) {
			t.Errorf("certificate %d: err = %v, want %v", i, err, want)
		}
	}
	if err := g.decide(t.Context(), "told.example"); err != nil {
		t.Errorf("one that is stored: %v", err)
	}
	at.Time = at.Add(30 * time.Second)
	if err := g.decide(t.Context(), "t4.example"); err != nil {
		t.Errorf("half a minute later: %v", err)
	}
}
