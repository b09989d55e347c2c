// Package certs finds the certificate for each TLS handshake: from a public authority by ACME, from an
// internal one that this package keeps, or from files.
//
// Hosts that no public authority can vouch for (localhost, *.test, private addresses, names without a
// dot and the like) take the internal authority whatever the issuer is, unless a certificate file covers them.
package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Manager answers handshakes. It is safe for concurrent use.
type Manager struct {
	hosts    []string
	storage  *storage    // nil when nothing is kept
	internal *internalCA // nil when no host needs it
	files    *files      // nil unless the issuer is files
	acme     *acme       // nil when no host needs it
	policies *policies
	tickets  *tickets // nil without storage: crypto/tls has its own
	ways     []way
}

// New checks cfg and opens what it names; nothing is asked of an authority yet. Close the Manager even if
// it was never started.
func New(cfg Config) (*Manager, error) {
	cfg = cfg.withDefaults()
	m := &Manager{hosts: cfg.Hosts}
	if err := m.open(cfg); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Manager) open(cfg Config) (err error) {
	if m.policies, err = newPolicies(cfg, m.certificate); err != nil {
		return err
	}
	if cfg.Issuer == "files" {
		if m.files, err = openFiles(cfg); err != nil {
			return err
		}
	}
	if m.ways, err = divide(cfg, m.files); err != nil {
		return err
	}
	if m.storage, err = openStorage(cfg); err != nil {
		return err
	}
	if m.storage != nil {
		m.tickets = newTickets(m.storage, m.policies, cfg)
	}
	if internal := hostsOf(m.ways, byInternal); len(internal) > 0 {
		if m.internal, err = newInternalCA(cfg, internal); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(m.ways, way.isACME) {
		m.acme, err = newACME(cfg, m.ways, m.storage)
	}
	return err
}

// certificate asks the sources in the order in which they are sure: a validator's probe is meant for ACME
// whatever name it bears, the internal authority knows its hosts, and files serve whoever comes.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if m.acme != nil && isChallenge(hello) {
		return m.acme.magic.GetCertificate(hello)
	}
	name := m.nameFor(hello)
	switch {
	case m.internal != nil && m.internal.pattern(name) != "":
		return m.internal.certificate(name)
	case m.files != nil:
		return m.files.certificate(), nil
	case m.acme != nil:
		named := *hello // ours has the name that stands in for none
		named.ServerName = name
		return m.acme.certificate(&named)
	}
	return nil, fmt.Errorf("no certificate for %q: no site names it", name)
}

// nameFor returns the name that the client asked for. One that gave none came by address: it gets the
// certificate for that address if there is a site of that name, else the first site's.
func (m *Manager) nameFor(hello *tls.ClientHelloInfo) string {
	if name := normalize(hello.ServerName); name != "" {
		return name
	}
	if hello.Conn != nil {
		if address := hostOf(hello.Conn.LocalAddr()); slices.Contains(m.hosts, address) {
			return address
		}
	}
	plain := func(host string) bool { return !strings.HasPrefix(host, "*") }
	wildcard := func(host string) bool { return host != "*" }
	for _, fits := range []func(string) bool{plain, wildcard} {
		if i := slices.IndexFunc(m.hosts, fits); i >= 0 {
			return m.hosts[i]
		}
	}
	return ""
}

// HTTPChallenge answers HTTP-01 challenges and passes everything else to next. It belongs before any redirect.
func (m *Manager) HTTPChallenge(next http.Handler) http.Handler {
	if m.acme == nil {
		return next
	}
	return m.acme.httpChallenge(next)
}

// Start serves what the storage holds at once and begins to obtain and renew in the background, until ctx
// ends or Close is called. The listeners must be bound before, or the ACME library binds their ports itself.
func (m *Manager) Start(ctx context.Context) error {
	if m.tickets != nil {
		m.tickets.start(ctx)
	}
	if m.acme == nil {
		return nil
	}
	return m.acme.start(ctx)
}

// RootFiles returns the paths of the internal authority's certificates that the hosts need, which clients may be told
// to trust.
func (m *Manager) RootFiles() []string {
	if m.internal == nil {
		return nil
	}
	return m.internal.rootFiles()
}

// Close ends what New and Start began. Call it once, when no handshake can come any more.
func (m *Manager) Close() {
	if m.acme != nil {
		m.acme.close()
	}
	if m.tickets != nil {
		m.tickets.close()
	}
	if m.storage != nil {
		m.storage.close()
	}
}
