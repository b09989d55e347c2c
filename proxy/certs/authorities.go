package certs

import (
	"crypto/x509"
	"fmt"
	"os"

	"github.com/caddyserver/certmagic"
	acmelib "github.com/mholt/acmez/v3/acme"
)

// addIssuers gives magic an issuer for each authority, which are tried in their order.
func addIssuers(magic *certmagic.Config, cfg Config, dns DNS) error {
	template := acmeTemplate(cfg)
	if dns.Provider != "" {
		solver, err := newSolver(dns, cfg.Logger)
		if err != nil {
			return err
		}
		template.DNS01Solver = solver
	}
	magic.Issuers = nil
	for _, authority := range cfg.Authorities {
		roots, err := loadRoots(authority.RootFile)
		if err != nil {
			return fmt.Errorf("tls.ca_root: %w", err)
		}
		one := template
		one.CA, one.TrustedRoots = authority.Directory, roots
		if authority.KeyID != "" {
			one.ExternalAccount = &acmelib.EAB{KeyID: authority.KeyID, MACKey: authority.MACKey}
		}
		magic.Issuers = append(magic.Issuers, certmagic.NewACMEIssuer(magic, one))
	}
	return nil
}

// acmeTemplate names every port itself: what it leaves out, the library takes from its package
// defaults, which belong to no one.
func acmeTemplate(cfg Config) certmagic.ACMEIssuer {
	return certmagic.ACMEIssuer{
		Email:                   cfg.Email,
		Agreed:                  true,
		AltHTTPPort:             cfg.HTTPPort,
		AltTLSALPNPort:          cfg.TLSPort,
		DisableHTTPChallenge:    cfg.HTTPPort == 0,
		DisableTLSALPNChallenge: cfg.TLSPort == 0,
		Logger:                  cfg.Logger,
	}
}

// loadRoots returns nil, which stands for the system's, when no file is named.
func loadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("no certificate in %s", file)
	}
	return roots, nil
}
