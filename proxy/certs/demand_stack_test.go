//go:build stack

package certs

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// tenants answers the question for permission and remembers what was asked.
type tenants struct {
	mu    sync.Mutex
	asked []string
}

func (a *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := r.URL.Query().Get("domain")
	a.asked = append(a.asked, name)
	if !strings.HasPrefix(name, "tenant.") {
		w.WriteHeader(http.StatusForbidden)
	}
}

func (a *tenants) count(name string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, asked := range a.asked {
		if asked == name {
			n++
		}
	}
	return n
}

func TestCertificateOnDemand(t *testing.T) {
	app := &tenants{}
	server := httptest.NewServer(app)
	defer server.Close()
	f, cfg := newFront(t, nil, func(cfg *Config, _ *front) {
		cfg.Hosts = append(cfg.Hosts, "*")
		cfg.OnDemand = OnDemand{Permission: server.URL + "/allowed"}
	})
	listed := f.start(t)
	tenant, stranger := "tenant."+f.host, "stranger."+f.host

	leaf, err := f.leaf(t, f.addr, tenant)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.leaf(t, f.addr, tenant); err != nil || !again.Equal(leaf) {
		t.Errorf("second handshake: %v, %v; want the same certificate", again, err)
	}
	for range 3 {
		if _, err := f.leaf(t, f.addr, stranger); err == nil {
			t.Error("a stranger got a certificate")
		}
	}
	for _, name := range []string{"localhost.localdomain", "10.0.0.1", "stranger.test", "tenant"} {
		if _, err := shake(t, f.addr, &tls.Config{ServerName: name, InsecureSkipVerify: true}); err == nil && app.count(name) > 0 {
			t.Errorf("%s: was asked for", name)
		}
	}
	if app.count(tenant) != 1 || app.count(stranger) != 1 || app.count(f.host) != 0 {
		t.Errorf("asked = %q, want each name that no site lists once", app.asked)
	}

	// After a restart it is loaded, not got again: the authority is not there.
	f.pebble.Stop()
	next := newManager(t, cfg)
	at := serve(t, next)
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*tls.Certificate{tenant: {Leaf: leaf}, f.host: {Leaf: listed}} {
		if got, err := f.leaf(t, at, name); err != nil || !got.Equal(want.Leaf) {
			t.Errorf("after a restart, %s: %v, %v; want the same certificate", name, got, err)
		}
	}
}
