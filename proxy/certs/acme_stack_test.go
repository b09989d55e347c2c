//go:build stack

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
)

// fronts makes the host of each test its own: certmagic remembers for the whole process which name failed to be
// renewed, as one does whose manager is closed meanwhile, and would make another test wait.
var fronts atomic.Int32

// front is a plain and a TLS listener with an authority that validates on them.
type front struct {
	host    string
	pebble  *pebble
	addr    net.Addr
	manager *Manager
}

// newFront serves a host of its own with a manager to which only the ports that offer keeps are known.
func newFront(t *testing.T, validity time.Duration, offer func(*Config)) (*front, Config) {
	t.Helper()
	host := fmt.Sprintf("shop%d.example.com", fronts.Add(1))
	plain, httpPort := listen(t)
	secure, tlsPort := listen(t)
	p := startPebble(t, httpPort, tlsPort, validity)
	cfg := Config{
		Hosts: []string{host, "localhost"}, Email: "ops@example.com", CA: p.directory, CARoot: p.rootFile,
		Storage: t.TempDir(), HTTPPort: httpPort, TLSPort: tlsPort, Logger: zaptest.NewLogger(t),
	}
	offer(&cfg)
	m := newManager(t, cfg)
	serveOn(t, secure, m)
	redirect := http.RedirectHandler("https://"+host, http.StatusPermanentRedirect)
	srv := &http.Server{Handler: m.HTTPChallenge(redirect), ErrorLog: quiet()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(plain)
	}()
	t.Cleanup(func() { srv.Close(); <-done })
	return &front{host: host, pebble: p, addr: secure.Addr(), manager: m}, cfg
}

// leaf makes a handshake that trusts the authority's root alone.
func (f *front) leaf(t *testing.T, at net.Addr) (*x509.Certificate, error) {
	return shake(t, at, &tls.Config{ServerName: f.host, RootCAs: f.pebble.roots})
}

func (f *front) start(t *testing.T) *x509.Certificate {
	t.Helper()
	if err := f.manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var leaf *x509.Certificate
	until(t, "a certificate for "+f.host, func() (err error) {
		leaf, err = f.leaf(t, f.addr)
		return err
	})
	return leaf
}

func TestCertificateByHTTP01(t *testing.T) {
	f, cfg := newFront(t, time.Hour, func(cfg *Config) { cfg.TLSPort = 0 })
	leaf := f.start(t)

	// The internal authority goes on beside the public one.
	if _, err := shake(t, f.addr, trusting(t, f.manager, "localhost")); err != nil {
		t.Errorf("localhost: %v", err)
	}
	// A reload makes a new manager on the same storage: its very first handshake must have the certificate.
	next := newManager(t, cfg)
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	hello := &tls.ClientHelloInfo{ServerName: f.host, Conn: server}
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := next.TLSConfig().GetCertificate(hello)
	if err != nil || !again.Leaf.Equal(leaf) {
		t.Errorf("after a reload: certificate = %v, %v; want the same as before", again, err)
	}
}

func TestCertificateByTLSALPN01(t *testing.T) {
	f, _ := newFront(t, time.Hour, func(cfg *Config) { cfg.HTTPPort = 0 })
	f.start(t)
}

func TestEndedCertificateIsRenewedAtTheStart(t *testing.T) {
	f, cfg := newFront(t, 5*time.Second, func(cfg *Config) { cfg.TLSPort = 0 })
	leaf := f.start(t)
	until(t, "the end of the certificate", func() error {
		if time.Now().After(leaf.NotAfter) {
			return nil
		}
		return errors.New("it still holds")
	})
	next := newManager(t, cfg)
	at := serve(t, next)
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "a renewed certificate", func() error {
		renewed, err := f.leaf(t, at)
		if err == nil && renewed.Equal(leaf) {
			err = errors.New("it is the old one")
		}
		return err
	})
}
