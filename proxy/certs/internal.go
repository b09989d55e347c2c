package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	leafLifetime = 7 * 24 * time.Hour
	leafSlack    = time.Hour // a client's clock may be behind
)

// internalCA makes leaves at the first handshake that needs them and keeps them in memory: a leaf costs
// less than the handshake, so there is nothing to store and nothing to renew in the background.
type internalCA struct {
	local    *root // vouches for local names alone
	named    *root // vouches for the other hosts that are configured; nil when there are none
	patterns []string
	logger   *zap.Logger
	now      func() time.Time

	mu     sync.Mutex // guards leaves; held while one is made, so that many clients make one
	leaves map[string]*tls.Certificate
}

func newInternalCA(cfg Config, patterns []string) (*internalCA, error) {
	if cfg.Storage == "" {
		return nil, errors.New("storage: the internal issuer needs a directory for its root")
	}
	ca := &internalCA{patterns: patterns, logger: cfg.Logger, now: cfg.now, leaves: make(map[string]*tls.Certificate)}
	var others []string
	for _, host := range patterns {
		if !localConstraints().permits(host) {
			others = append(others, host)
		}
	}
	var err error
	if len(others) < len(patterns) {
		ca.local, err = openRoot(filepath.Join(cfg.Storage, "internal"), localConstraints(), cfg.now())
	}
	if err == nil && len(others) > 0 {
		ca.named, err = openRoot(filepath.Join(cfg.Storage, "internal-named"), constraintsFor(others), cfg.now())
	}
	return ca, err
}

// rootFor returns the root that may vouch for a configured host.
func (ca *internalCA) rootFor(pattern string) *root {
	if localConstraints().permits(pattern) {
		return ca.local
	}
	return ca.named
}

// RootFiles returns the certificates of the internal authority that cfg needs, which clients may be told to trust, and
// makes those that are not there yet. Local names have one in any case.
func RootFiles(cfg Config) ([]string, error) {
	cfg = cfg.withDefaults()
	var hosts []string
	if cfg.Issuer == "internal" {
		hosts = cfg.Hosts
	}
	hosts = append([]string{"localhost"}, hosts...)
	for _, host := range cfg.Hosts {
		if isLocal(host) {
			hosts = append(hosts, host)
		}
	}
	ca, err := newInternalCA(cfg, slices.DeleteFunc(hosts, func(host string) bool { return host == "*" }))
	if err != nil {
		return nil, err
	}
	return ca.rootFiles(), nil
}

func (ca *internalCA) rootFiles() []string {
	var names []string
	for _, r := range []*root{ca.local, ca.named} {
		if r != nil {
			names = append(names, r.file)
		}
	}
	return names
}

// current returns the leaf that is in use for a configured host, or nil.
func (ca *internalCA) current(pattern string) *x509.Certificate {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	if leaf := ca.leaves[pattern]; leaf != nil {
		return leaf.Leaf
	}
	return nil
}

// pattern returns the configured host that covers name, or "". Leaves are made for patterns, not for
// names, so that nobody can have us make more of them than there are sites.
func (ca *internalCA) pattern(name string) string {
	for _, p := range ca.patterns {
		if matches(p, name) {
			return p
		}
	}
	return ""
}

// certificate returns the leaf for name, which a pattern must cover, and makes one if there is none or the
// one there is nears its end.
func (ca *internalCA) certificate(name string) (*tls.Certificate, error) {
	pattern, now := ca.pattern(name), ca.now()
	ca.mu.Lock()
	defer ca.mu.Unlock()
	if leaf := ca.leaves[pattern]; leaf != nil && now.Before(renewalOf(leaf.Leaf)) {
		return leaf, nil
	}
	leaf, err := ca.rootFor(pattern).sign(pattern, now)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", pattern, err)
	}
	ca.leaves[pattern] = leaf
	ca.logger.Info("internal certificate made", zap.String("host", pattern), zap.Time("until", leaf.Leaf.NotAfter))
	return leaf, nil
}

// renewalOf returns when a third of the leaf's life is left.
func renewalOf(leaf *x509.Certificate) time.Time {
	return leaf.NotAfter.Add(-leaf.NotAfter.Sub(leaf.NotBefore) / 3)
}

// sign makes a leaf and its key. ECDSA on P-256 is what all clients know and what is quickest to make;
// seven days keep the harm of a lost key small without a list of revoked ones. The end is never later
// than the root's: some clients refuse such a chain before the root itself has ended.
func (r *root) sign(host string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	until := now.Add(leafLifetime)
	if until.After(r.certificate.NotAfter) {
		until = r.certificate.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: newSerial(),
		Subject:      pkix.Name{CommonName: host},
		NotBefore:    now.Add(-leafSlack),
		NotAfter:     until,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	// Clients compare the alternative names alone; the common name is for people who look.
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, r.certificate, key.Public(), r.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
