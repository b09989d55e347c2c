//go:build stack

package certs

import (
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"golang.org/x/crypto/ocsp"

	"gateway/testdata/stack"
)

func contains(s, words string) bool { return strings.Contains(s, words) }

// TestAuthorityThatIsDown goes on past the end of the certificate.
func TestAuthorityThatIsDown(t *testing.T) {
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.Validity = 10 * time.Second }, func(cfg *Config, _ *front) {
		cfg.renewEvery = 500 * time.Millisecond
	})
	leaf := f.start(t)
	f.pebble.Stop()
	until(t, "the problem", func() error { return problem(t, f.manager, f.host, "connection refused") })
	until(t, "the end", func() error { return problem(t, f.manager, f.host, "the certificate has ended; ") })
	served, err := shake(t, f.addr, &tls.Config{ServerName: f.host, InsecureSkipVerify: true})
	if err != nil || !served.Equal(leaf) {
		t.Errorf("served = %v, %v; want the old certificate", served, err)
	}
}

// fullDisk is a storage that takes nothing once it is full.
type fullDisk struct {
	certmagic.Storage
	full *atomic.Bool
}

func (d fullDisk) Store(ctx context.Context, key string, value []byte) error {
	if d.full.Load() {
		return fmt.Errorf("write %s: %w", key, syscall.ENOSPC)
	}
	return d.Storage.Store(ctx, key, value)
}

func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.Validity = 20 * time.Second }, func(cfg *Config, _ *front) {
		cfg.renewEvery = 500 * time.Millisecond
		cfg.wrap = func(s certmagic.Storage) certmagic.Storage { return fullDisk{s, &full} }
	})
	leaf := f.start(t)
	full.Store(true)
	until(t, "the problem", func() error { return problem(t, f.manager, f.host, "no space left on device") })
	if served, err := f.leaf(t, f.addr, f.host); err != nil || !served.Equal(leaf) {
		t.Errorf("served = %v, %v; want the old certificate", served, err)
	}
}

// responder tells whether certificates are revoked, in the name of the authority.
type responder struct {
	revoked atomic.Bool
	issuer  *x509.Certificate
	key     crypto.Signer
}

func (r *responder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	question, err := ocsp.ParseRequest(body)
	if err != nil {
		return
	}
	now := time.Now()
	answer := ocsp.Response{Status: ocsp.Good, SerialNumber: question.SerialNumber, ThisUpdate: now.Add(-time.Second), NextUpdate: now.Add(time.Second)}
	if r.revoked.Load() {
		answer.Status, answer.RevokedAt = ocsp.Revoked, now
	}
	text, err := ocsp.CreateResponse(r.issuer, r.issuer, answer, r.key)
	if err == nil {
		w.Write(text)
	}
}

// speakFor gives the responder the key of the authority.
func (r *responder) speakFor(t *testing.T, p *stack.PebbleServer) {
	t.Helper()
	certificate, _ := pem.Decode(p.Manage(t, "/intermediates/0"))
	key, _ := pem.Decode(p.Manage(t, "/intermediate-keys/0"))
	var err error
	if r.issuer, err = x509.ParseCertificate(certificate.Bytes); err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(key.Bytes)
	if err != nil {
		if parsed, err = x509.ParsePKCS1PrivateKey(key.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	r.key = parsed.(crypto.Signer)
}

func revocation(t *testing.T) (*front, *responder) {
	t.Helper()
	r := &responder{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.OCSP = server.URL }, func(cfg *Config, f *front) {
		r.speakFor(t, f.pebble)
		cfg.stapleEvery = 200 * time.Millisecond
	})
	return f, r
}

func TestRevokedCertificateIsReplaced(t *testing.T) {
	f, r := revocation(t)
	leaf := f.start(t)
	dialer := tls.Dialer{Config: &tls.Config{ServerName: f.host, RootCAs: f.pebble.Roots}}
	conn, err := dialer.DialContext(t.Context(), "tcp", f.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if len(conn.(*tls.Conn).OCSPResponse()) == 0 {
		t.Error("nothing stapled")
	}
	r.revoked.Store(true)
	until(t, "another certificate", func() error {
		served, err := f.leaf(t, f.addr, f.host)
		if err == nil && served.Equal(leaf) {
			err = errors.New("it is the old one")
		}
		return err
	})
}

func TestRevokedCertificateServesWhileTheAuthorityIsDown(t *testing.T) {
	f, r := revocation(t)
	leaf := f.start(t)
	f.pebble.Stop()
	r.revoked.Store(true)
	until(t, "the problem", func() error {
		if err := problem(t, f.manager, f.host, errRevoked.Error()); err == nil {
			return nil
		}
		return problem(t, f.manager, f.host, "connection refused")
	})
	if served, err := f.leaf(t, f.addr, f.host); err != nil || !served.Equal(leaf) {
		t.Errorf("served = %v, %v; want the old certificate", served, err)
	}
}
