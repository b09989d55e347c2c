package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// acmeProtocol is what a validator asks for in a TLS-ALPN-01 challenge (RFC 8737).
const acmeProtocol = "acme-tls/1"

// preloadWait bounds how long Start waits for the storage. Reading it takes milliseconds, unless a
// certificate names a revocation service that does not answer.
const preloadWait = 2 * time.Second

// acme keeps certificates from a public authority.
type acme struct {
	hosts  []string
	cache  *certmagic.Cache
	magic  *certmagic.Config
	issuer *certmagic.ACMEIssuer
	logger *zap.Logger

	cancel  context.CancelFunc
	working sync.WaitGroup
}

func newACME(cfg Config, hosts []string) (*acme, error) {
	if err := checkACME(cfg, hosts); err != nil {
		return nil, err
	}
	roots, err := loadRoots(cfg.CARoot)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Storage, 0o700); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	a := &acme{hosts: hosts, logger: cfg.Logger, cancel: func() {}}
	ready := make(chan struct{}) // the cache begins to work before the configuration it asks for can exist
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) {
			<-ready
			return a.magic, nil
		},
		Logger: cfg.Logger,
	})
	a.magic = certmagic.New(a.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: cfg.Storage},
		Logger:  cfg.Logger,
	})
	a.issuer = certmagic.NewACMEIssuer(a.magic, acmeTemplate(cfg, roots))
	a.magic.Issuers = []certmagic.Issuer{a.issuer}
	close(ready)
	return a, nil
}

// acmeTemplate names every address and port itself: what it leaves out, the library takes from its package
// defaults, which belong to no one.
func acmeTemplate(cfg Config, roots *x509.CertPool) certmagic.ACMEIssuer {
	directory := cfg.CA
	if directory == "" {
		directory = certmagic.LetsEncryptProductionCA
	}
	return certmagic.ACMEIssuer{
		CA:                      directory,
		Email:                   cfg.Email,
		Agreed:                  true,
		TrustedRoots:            roots,
		AltHTTPPort:             cfg.HTTPPort,
		AltTLSALPNPort:          cfg.TLSPort,
		DisableHTTPChallenge:    cfg.HTTPPort == 0,
		DisableTLSALPNChallenge: cfg.TLSPort == 0,
		Logger:                  cfg.Logger,
	}
}

// checkACME refuses what the authority would refuse later, when only the log could say so.
func checkACME(cfg Config, hosts []string) error {
	if cfg.Storage == "" {
		return errors.New("storage: the issuer acme needs a directory for keys and certificates")
	}
	if cfg.HTTPPort == 0 && cfg.TLSPort == 0 {
		return errors.New("listen: the issuer acme needs an http or https listener that the authority can reach")
	}
	for _, host := range hosts {
		if strings.Contains(host, "*") {
			return fmt.Errorf("hosts: %s needs a DNS challenge, which is not supported; name each host, or use the issuer files", host)
		}
		if !certmagic.SubjectQualifiesForCert(host) {
			return fmt.Errorf("hosts: no authority gives a certificate to %q", host)
		}
	}
	return nil
}

func loadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tls.ca_root: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls.ca_root: no certificate in %s", file)
	}
	return roots, nil
}

// isChallenge tells a validator from a browser: it must offer acme-tls/1 and nothing else (RFC 8737, 3).
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return slices.Equal(hello.SupportedProtos, []string{acmeProtocol})
}

func (a *acme) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return a.magic.GetCertificate(hello)
}

// start first loads what there is, so that a reload never serves a moment without the certificates that
// the state before it had.
func (a *acme) start(ctx context.Context) error {
	ctx, a.cancel = context.WithCancel(ctx)
	a.preload(ctx)
	if err := a.magic.ManageAsync(ctx, a.hosts); err != nil {
		return fmt.Errorf("manage certificates: %w", err)
	}
	// Certificates that are loaded count as managed, and the next look at their age is minutes away.
	a.working.Go(func() {
		if err := a.cache.RenewManagedCertificates(ctx); err != nil && ctx.Err() == nil {
			a.logger.Error("certificates not renewed", zap.Error(err))
		}
	})
	return nil
}

// preload puts the stored certificates into the cache, each in a goroutine of its own since one may wait
// for the network. Those that are late go on in the background, and close waits for them.
func (a *acme) preload(ctx context.Context) {
	var loading sync.WaitGroup
	for _, host := range a.hosts {
		loading.Go(func() {
			// An error means none or a broken one: ManageAsync meets it again, and reports or replaces it.
			_, _ = a.magic.CacheManagedCertificate(ctx, host)
		})
	}
	loaded := make(chan struct{})
	a.working.Go(func() {
		loading.Wait()
		close(loaded)
	})
	select {
	case <-loaded:
	case <-time.After(preloadWait):
	case <-ctx.Done():
	}
}

func (a *acme) close() {
	a.cancel()
	a.cache.Stop()
	a.working.Wait()
}
