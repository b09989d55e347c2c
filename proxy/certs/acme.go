package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// stopWait bounds how long the end of the library's work is waited for.
const stopWait = 3 * time.Second

// acme keeps certificates from public authorities.
type acme struct {
	hosts    []string // managed: obtained at the start and renewed in the background
	patterns []string // whose names get a certificate on demand
	cache    *certmagic.Cache
	magic    *certmagic.Config // for hosts
	demand   *certmagic.Config // for patterns; nil without them
	health   *health
	logger   *zap.Logger

	cancel  context.CancelFunc
	working sync.WaitGroup
}

func newACME(cfg Config, ways []way, kept *storage) (*acme, error) {
	if kept == nil {
		return nil, errors.New("storage: the issuer acme needs a directory for keys and certificates")
	}
	a := &acme{
		hosts: hostsOf(ways, byPorts, byDNS), patterns: hostsOf(ways, onDemand),
		logger: cfg.Logger, cancel: func() {},
	}
	a.health = newHealth(cfg, a.hosts)
	kept.health = a.health
	ready := make(chan struct{}) // the cache begins to work before the configuration it asks for can exist
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(cert certmagic.Certificate) (*certmagic.Config, error) {
			<-ready
			return a.configFor(cert.Names), nil
		},
		RenewCheckInterval: cfg.renewEvery,
		OCSPCheckInterval:  cfg.stapleEvery,
		Logger:             cfg.Logger,
	})
	err := a.configure(cfg, kept)
	close(ready)
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *acme) configure(cfg Config, kept *storage) error {
	base := certmagic.Config{
		Storage: kept, LocalCache: kept.local, Logger: cfg.Logger, OnEvent: a.health.event,
		KeySource: certmagic.StandardKeyGenerator{KeyType: keyType(cfg.KeyType)},
	}
	a.magic = certmagic.New(a.cache, base)
	if err := addIssuers(a.magic, cfg, cfg.DNS); err != nil {
		return err
	}
	if len(a.patterns) == 0 {
		return nil
	}
	// A zone of ours says nothing about the names of others: on demand, they are proved at the ports alone.
	base.OnDemand = &certmagic.OnDemandConfig{}
	a.demand = certmagic.New(a.cache, base)
	base.OnDemand.DecisionFunc = newGate(cfg, a.demand).decide
	return addIssuers(a.demand, cfg, DNS{})
}

func keyType(name string) certmagic.KeyType {
	switch name {
	case "p384":
		return certmagic.P384
	case "rsa2048":
		return certmagic.RSA2048
	}
	return certmagic.P256
}

// configFor returns the configuration that a certificate was got with.
func (a *acme) configFor(names []string) *certmagic.Config {
	if a.demand != nil && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(a.hosts, name) }) {
		return a.demand
	}
	return a.magic
}

// isChallenge tells a validator from a browser: it must offer acme-tls/1 and nothing else (RFC 8737, 3).
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return slices.Equal(hello.SupportedProtos, []string{acmeProtocol})
}

func (a *acme) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	covers := func(pattern string) bool { return matches(pattern, hello.ServerName) }
	onDemand := func(pattern string) bool { return pattern == "*" || covers(pattern) }
	switch {
	case slices.ContainsFunc(a.hosts, covers):
		return a.magic.GetCertificate(hello)
	case slices.ContainsFunc(a.patterns, onDemand):
		return a.demand.GetCertificate(hello)
	}
	return nil, fmt.Errorf("no certificate for %q: no site names it", hello.ServerName)
}

// httpChallenge answers the challenges of all authorities: the library looks them up for each.
func (a *acme) httpChallenge(next http.Handler) http.Handler {
	issuer := a.magic.Issuers[0]
	if len(a.hosts) == 0 {
		issuer = a.demand.Issuers[0]
	}
	return issuer.(*certmagic.ACMEIssuer).HTTPChallengeHandler(next)
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

// close ends all work. The library may be asleep for a minute after a renewal that failed; it is not waited for then,
// and does nothing more when it wakes.
func (a *acme) close() {
	a.cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		a.cache.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(stopWait):
	}
	a.working.Wait()
}
