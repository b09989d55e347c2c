package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"time"
)

// ClientAuth asks the clients of a host for a certificate of theirs.
type ClientAuth struct {
	// CAFile is a PEM file with the authorities to trust.
	CAFile string
	// Mode is "require" (zero) or "verify": a client may have none, but one that it shows has to be good.
	Mode string
}

// policy is a way to hold handshakes, and its configuration for crypto/tls.
type policy struct {
	name    string // empty for the ordinary one; else it stands for the authorities and the mode
	roots   []*x509.Certificate
	require bool
	config  *tls.Config
}

// policies finds the policy of a name.
type policies struct {
	ordinary *policy
	patterns map[string]bool
	byHost   map[string]*policy
	all      []*policy
	now      func() time.Time
}

type certificateFunc func(*tls.ClientHelloInfo) (*tls.Certificate, error)

func newPolicies(cfg Config, certificate certificateFunc) (*policies, error) {
	base, err := baseConfig(cfg.Curves, certificate)
	if err != nil {
		return nil, err
	}
	p := &policies{
		ordinary: &policy{config: base}, patterns: make(map[string]bool), byHost: make(map[string]*policy), now: cfg.now,
	}
	p.all = []*policy{p.ordinary}
	for _, host := range cfg.Hosts {
		p.patterns[host] = true
	}
	for host, auth := range cfg.Clients {
		one, err := newPolicy(base, auth)
		if err != nil {
			return nil, fmt.Errorf("client_certificates.ca: %w", err)
		}
		p.byHost[normalize(host)] = p.share(one)
	}
	return p, nil
}

// share returns the policy of the same name that is there already, or adds one.
func (p *policies) share(one *policy) *policy {
	for _, other := range p.all {
		if other.name == one.name {
			return other
		}
	}
	p.all = append(p.all, one)
	return one
}

func newPolicy(base *tls.Config, auth ClientAuth) (*policy, error) {
	text, err := os.ReadFile(auth.CAFile)
	if err != nil {
		return nil, err
	}
	p := &policy{require: auth.Mode != "verify", config: base.Clone()}
	p.config.ClientCAs = x509.NewCertPool()
	digest := sha256.New()
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", auth.CAFile, err)
		}
		p.roots = append(p.roots, root)
		p.config.ClientCAs.AddCert(root)
		digest.Write(block.Bytes)
	}
	if len(p.roots) == 0 {
		return nil, fmt.Errorf("no certificate in %s", auth.CAFile)
	}
	p.config.ClientAuth = tls.VerifyClientCertIfGiven
	if p.require {
		p.config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	p.name = fmt.Sprintf("%x %v", digest.Sum(nil), p.require)
	return p, nil
}

// of returns the policy for a name that a site was asked for with.
func (p *policies) of(name string) *policy {
	if own := p.byHost[lookup(p.patterns, name)]; own != nil {
		return own
	}
	return p.ordinary
}

// ConfigFor returns the configuration for one handshake; a listener's GetConfigForClient asks for it. It asks the
// client for a certificate where the site does.
func (m *Manager) ConfigFor(hello *tls.ClientHelloInfo) *tls.Config {
	if isChallenge(hello) {
		return m.policies.ordinary.config // a validator has no certificate
	}
	return m.policies.of(m.nameFor(hello)).config
}

// TLSConfig returns the configuration for a whole listener.
func (m *Manager) TLSConfig() *tls.Config {
	cfg := m.policies.ordinary.config.Clone()
	cfg.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) { return m.ConfigFor(hello), nil }
	return cfg
}

// ClientProven tells whether what a client proved in its handshake is enough for a host. It is not where the handshake
// was for another name whose site asks for less, or came before the site asked: a request that comes so is misdirected
// (421), and its client may come again on a connection of its own.
func (m *Manager) ClientProven(state *tls.ConnectionState, host string) bool {
	want := m.policies.of(normalize(host))
	if want == m.policies.ordinary {
		return true
	}
	for _, chain := range state.VerifiedChains {
		if slices.ContainsFunc(want.roots, chain[len(chain)-1].Equal) {
			return true
		}
	}
	// Who showed none had the occasion if the handshake was under the same rule.
	return !want.require && len(state.PeerCertificates) == 0 && m.policies.of(normalize(state.ServerName)) == want
}
