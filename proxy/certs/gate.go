package certs

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
)

// OnDemand gets certificates at the first handshake for a name, after asking whether it may.
type OnDemand struct {
	// Permission is the URL that is asked with ?domain=NAME added. A status from 200 to 299 allows. Empty means that
	// nothing is got on demand.
	Permission string
	// Cache is how long an answer is remembered. Zero means 10 minutes; a refusal holds a minute at most.
	Cache time.Duration
	// PerMinute limits new certificates. Zero means 10.
	PerMinute int
}

var (
	errTooManyNew  = errors.New("too many new certificates this minute")
	errNoSuchName  = errors.New("no public name")
	errNotAllowed  = errors.New("the permission URL does not allow it")
	errTooManyAsks = errors.New("too many unknown names at once")
)

// gate says for which names a certificate may be got or loaded. Whoever connects chooses the name, so each step is
// bounded: the question, and what the answer leads to.
type gate struct {
	permission *permission
	fresh      *bucket // new certificates
	magic      *certmagic.Config
}

func newGate(cfg Config, magic *certmagic.Config) *gate {
	perMinute := cfg.OnDemand.PerMinute
	if perMinute == 0 {
		perMinute = 10
	}
	return &gate{
		permission: newPermission(cfg),
		fresh:      newBucket(float64(perMinute)/60, float64(perMinute), cfg.now),
		magic:      magic,
	}
}

// decide returns nil if the name may have a certificate. Only one that has none in the storage counts as new: after
// a restart, all of them are asked for again.
func (g *gate) decide(ctx context.Context, name string) error {
	if !isPublicName(name) {
		return fmt.Errorf("%s: %w", name, errNoSuchName)
	}
	if err := g.permission.ask(ctx, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !g.stored(ctx, name) && !g.fresh.take() {
		return fmt.Errorf("%s: %w", name, errTooManyNew)
	}
	return nil
}

// isPublicName tells whether a name that a client chose can be one of the internet's.
func isPublicName(name string) bool {
	odd := func(r rune) bool { return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	_, err := netip.ParseAddr(name)
	return err != nil && len(name) <= 253 && !strings.ContainsFunc(name, odd) && !strings.Contains(name, "..") &&
		!isLocal(name) && certmagic.SubjectQualifiesForPublicCert(name)
}

func (g *gate) stored(ctx context.Context, name string) bool {
	for _, issuer := range g.magic.Issuers {
		if g.magic.Storage.Exists(ctx, certmagic.StorageKeys.SiteCert(issuer.IssuerKey(), name)) {
			return true
		}
	}
	return false
}
