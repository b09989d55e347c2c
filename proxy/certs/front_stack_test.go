//go:build stack

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"gateway/testdata/stack"
)

// fronts makes the host of each test its own: certmagic remembers for the whole process which name failed to be
// renewed, as one does whose manager is closed meanwhile, and would make another test wait.
var fronts atomic.Int32

// front is a plain and a TLS listener with an authority that validates on them.
type front struct {
	host    string
	pebble  *stack.PebbleServer
	addr    net.Addr
	manager *Manager
}

// newFront serves a host of its own, with an authority and a manager that are as their changes make them.
func newFront(t *testing.T, authority func(*stack.PebbleConfig), change func(*Config, *front)) (*front, Config) {
	t.Helper()
	plain, httpPort := listen(t)
	secure, tlsPort := listen(t)
	pc := stack.PebbleConfig{HTTPPort: httpPort, TLSPort: tlsPort}
	if authority != nil {
		authority(&pc)
	}
	f := &front{host: fmt.Sprintf("shop%d.example.com", fronts.Add(1)), pebble: stack.Pebble(t, pc), addr: secure.Addr()}
	cfg := Config{
		Hosts: []string{f.host, "localhost"}, Email: "ops@example.com",
		Authorities: []Authority{f.authority()},
		Storage:     t.TempDir(), HTTPPort: httpPort, TLSPort: tlsPort, Logger: zaptest.NewLogger(t),
	}
	if change != nil {
		change(&cfg, f)
	}
	f.manager = newManager(t, cfg)
	serveOn(t, secure, f.manager)
	servePlain(t, plain, f.manager)
	return f, cfg
}

func (f *front) authority() Authority {
	return Authority{Directory: f.pebble.Directory, RootFile: f.pebble.RootFile}
}

// servePlain answers challenges and redirects everything else.
func servePlain(t *testing.T, l net.Listener, m *Manager) {
	t.Helper()
	srv := &http.Server{Handler: m.HTTPChallenge(http.NotFoundHandler()), ErrorLog: quiet()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() { srv.Close(); <-done })
}

// leaf makes a handshake that trusts the authority's root alone.
func (f *front) leaf(t *testing.T, at net.Addr, name string) (*x509.Certificate, error) {
	return shake(t, at, &tls.Config{ServerName: name, RootCAs: f.pebble.Roots})
}

// start waits for the first certificate.
func (f *front) start(t *testing.T) *x509.Certificate {
	t.Helper()
	if err := f.manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f.await(t, f.host)
}

func (f *front) await(t *testing.T, name string) (leaf *x509.Certificate) {
	t.Helper()
	until(t, "a certificate for "+name, func() (err error) {
		leaf, err = f.leaf(t, f.addr, name)
		return err
	})
	return leaf
}

// status returns the line of a host.
func status(t *testing.T, m *Manager, host string) HostStatus {
	t.Helper()
	for _, s := range m.Status() {
		if s.Host == host {
			return s
		}
	}
	t.Fatalf("no status of %s", host)
	return HostStatus{}
}

func until(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-tick.C
	}
}

func listen(t *testing.T) (net.Listener, int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return l, n
}
