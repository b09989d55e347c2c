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
	"time"

	"go.uber.org/zap"
)

// Config says where certificates come from.
type Config struct {
	// Issuer is "acme" (zero), "internal" or "files".
	Issuer string
	// Hosts are the names of all sites. "*.example.com" covers one label. The first one answers clients
	// that name none.
	Hosts []string

	// Email is the contact of the ACME account. It may be empty.
	Email string
	// CA is the URL of the ACME directory. Empty means Let's Encrypt.
	CA string
	// CARoot is a PEM file with the roots that vouch for the ACME directory itself. Empty means the system's.
	CARoot string
	// HTTPPort is the port of our plain listener. Zero means that there is none, and no HTTP-01.
	HTTPPort int
	// TLSPort is the port of our TLS listener. Zero means that there is none, and no TLS-ALPN-01.
	TLSPort int

	// Storage is the directory of keys and certificates, made with mode 0700. Files alone need none.
	Storage string
	// CertFile and KeyFile are the PEM chain and key for "files". They are read again when they change.
	CertFile, KeyFile string
	// Logger hears of certificates obtained, renewed and refused. Nil means silence.
	Logger *zap.Logger

	now func() time.Time // nil means time.Now
}

// Manager answers handshakes. It is safe for concurrent use.
type Manager struct {
	hosts    []string
	internal *internalCA // nil when no host needs it
	files    *files      // nil unless the issuer is files
	acme     *acme       // nil when no host needs it
}

// New checks cfg and opens what it names; nothing is asked of an authority yet. Close the Manager even if
// it was never started.
func New(cfg Config) (*Manager, error) {
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	m := &Manager{hosts: normalizeAll(cfg.Hosts)}
	internal, public, err := m.divide(cfg)
	if err != nil {
		return nil, err
	}
	if len(internal) > 0 {
		if m.internal, err = newInternalCA(cfg, internal); err != nil {
			return nil, err
		}
	}
	if len(public) > 0 {
		if m.acme, err = newACME(cfg, public); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// divide opens the files, if they are the issuer, and says which hosts need which authority.
func (m *Manager) divide(cfg Config) (internal, public []string, err error) {
	switch cfg.Issuer {
	case "internal":
		return m.hosts, nil, nil
	case "files":
		if m.files, err = openFiles(cfg); err != nil {
			return nil, nil, err
		}
		for _, host := range m.hosts {
			if isLocal(host) && !m.files.cover(host) {
				internal = append(internal, host)
			}
		}
		return internal, nil, nil
	case "", "acme":
		for _, host := range m.hosts {
			if isLocal(host) {
				internal = append(internal, host)
			} else {
				public = append(public, host)
			}
		}
		return internal, public, nil
	}
	return nil, nil, fmt.Errorf("tls.issuer: unknown %q; want acme, internal or files", cfg.Issuer)
}

// TLSConfig returns the configuration for a listener.
func (m *Manager) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1", acmeProtocol},
		GetCertificate: m.certificate,
	}
}

// certificate asks the sources in the order in which they are sure: a validator's probe is meant for ACME
// whatever name it bears, the internal authority knows its hosts, and files serve whoever comes.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if m.acme != nil && isChallenge(hello) {
		return m.acme.certificate(hello)
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
	if len(m.hosts) == 0 {
		return ""
	}
	if hello.Conn != nil {
		if address := hostOf(hello.Conn.LocalAddr()); slices.Contains(m.hosts, address) {
			return address
		}
	}
	return m.hosts[0]
}

// HTTPChallenge answers HTTP-01 challenges and passes everything else to next. It belongs before any redirect.
func (m *Manager) HTTPChallenge(next http.Handler) http.Handler {
	if m.acme == nil {
		return next
	}
	return m.acme.issuer.HTTPChallengeHandler(next)
}

// Start serves what the storage holds at once and begins to obtain and renew in the background, until ctx
// ends or Close is called. The listeners must be bound before, or the ACME library binds their ports itself.
func (m *Manager) Start(ctx context.Context) error {
	if m.acme == nil {
		return nil
	}
	return m.acme.start(ctx)
}

// RootFile returns the path of the internal authority's certificate, which clients may be told to trust.
// It is empty when no host needs that authority.
func (m *Manager) RootFile() string {
	if m.internal == nil {
		return ""
	}
	return m.internal.rootFile
}

// Close ends what New and Start began. Call it once, when no handshake can come any more.
func (m *Manager) Close() {
	if m.acme != nil {
		m.acme.close()
	}
}
