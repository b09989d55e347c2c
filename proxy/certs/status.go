package certs

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// HostStatus is the certificate of a host at this moment.
type HostStatus struct {
	Host string `json:"host"`
	// Source is "acme", "internal", "files", "on demand" or "none".
	Source string `json:"source"`
	// Issuer is the name of the authority that signed it; empty while there is no certificate.
	Issuer string `json:"issuer,omitempty"`
	// Until is when it ends; zero while there is no certificate.
	Until time.Time `json:"until,omitzero"`
	// Problem says what is wrong with it or with its renewal; empty when all is well. Since is when that began.
	Problem string    `json:"problem,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Status returns the certificate of each host, in the order of Config.Hosts. Names on demand are not listed.
func (m *Manager) Status() []HostStatus {
	var all []HostStatus
	for _, w := range m.ways {
		status := HostStatus{Host: w.host, Source: w.source()}
		leaf := m.leaf(w)
		if leaf != nil {
			status.Issuer, status.Until = leaf.Issuer.CommonName, leaf.NotAfter
		}
		m.judge(&status, w, leaf)
		all = append(all, status)
	}
	return all
}

func (w way) source() string {
	return [...]string{byNothing: "none", byInternal: "internal", byFiles: "files", byPorts: "acme", byDNS: "acme", onDemand: "on demand"}[w.kind]
}

// leaf returns the certificate that clients of a host are shown now, or nil. The internal authority makes one when
// the first client comes.
func (m *Manager) leaf(w way) *x509.Certificate {
	switch w.kind {
	case byFiles:
		return m.files.certificate().Leaf
	case byInternal:
		return m.internal.current(w.host)
	case byPorts, byDNS:
		return m.acme.current(w.host)
	}
	return nil
}

// current returns the newest certificate in memory whose subject is host.
func (a *acme) current(host string) *x509.Certificate {
	var newest *x509.Certificate
	for _, cert := range a.cache.AllMatchingCertificates(host) {
		if slices.Contains(cert.Names, host) && (newest == nil || cert.Leaf.NotAfter.After(newest.NotAfter)) {
			newest = cert.Leaf
		}
	}
	return newest
}

func (m *Manager) judge(status *HostStatus, w way, leaf *x509.Certificate) {
	if w.isACME() {
		if f := m.acme.health.about(w.host); f != nil {
			status.Problem, status.Since = f.text, f.since
		}
	}
	if w.kind == onDemand || w.kind == byNothing || w.kind == byInternal {
		return
	}
	now := m.policies.now()
	switch {
	case leaf == nil && status.Problem == "":
		status.Problem = "no certificate yet"
	case leaf != nil && now.After(leaf.NotAfter):
		status.Problem = joinProblems("the certificate has ended", status.Problem)
	case leaf != nil && w.kind == byFiles && w.host != "*" && leaf.VerifyHostname(exampleOf(w.host)) != nil:
		status.Problem = fmt.Sprintf("the certificate file is for %v", leaf.DNSNames)
	}
}

func joinProblems(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}

// exampleOf returns a name that a pattern covers.
func exampleOf(host string) string {
	if rest, wildcard := cutWildcard(host); wildcard {
		return "any" + rest
	}
	return host
}
