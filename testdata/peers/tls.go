package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// certificate is the one that every TLS listener shows: ECDSA over P-256, for all hosts.
type certificate struct {
	File  string // PEM: the certificate alone, for its root is known to whoever verifies
	Key   string // PEM
	roots *x509.CertPool
}

// newCertificate makes a root and a certificate signed by it, and writes the latter to dir.
func newCertificate(dir string, hosts []string) (*certificate, error) {
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root of the benchmark"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: hosts, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if root, err = sign(root, root, &rootKey.PublicKey, rootKey); err != nil {
		return nil, err
	}
	if leaf, err = sign(leaf, root, &key.PublicKey, rootKey); err != nil {
		return nil, err
	}
	c := &certificate{File: filepath.Join(dir, "bench.crt"), Key: filepath.Join(dir, "bench.key"), roots: x509.NewCertPool()}
	c.roots.AddCert(root)
	return c, c.write(leaf, key)
}

func sign(template, parent *x509.Certificate, of *ecdsa.PublicKey, by *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, of, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func (c *certificate) write(leaf *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(c.File, "CERTIFICATE", leaf.Raw); err != nil {
		return err
	}
	return writePEM(c.Key, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// sameTLS makes every sample of a row invalid whose peers negotiated differently: the row would compare ciphers.
func sameTLS(samples []sample) {
	for i, s := range samples {
		said := negotiated(samples, func(o sample) bool { return o.Row == s.Row })
		if s.Invalid == "" && len(said) > 1 {
			samples[i].Invalid = "the peers negotiate differently: " + strings.Join(said, "; ")
		}
	}
}

// tlsFacts says what each peer negotiated.
func tlsFacts(samples []sample, peers []peer) (facts []fact) {
	for _, p := range peers {
		if said := negotiated(samples, func(s sample) bool { return s.Peer == p.Key }); len(said) > 0 {
			facts = append(facts, fact{"TLS of " + p.Key, strings.Join(said, "; ")})
		}
	}
	return facts
}

// negotiated returns what those samples negotiated, each only once.
func negotiated(samples []sample, of func(sample) bool) (said []string) {
	for _, s := range samples {
		if s.TLS != "" && of(s) && !slices.Contains(said, s.TLS) {
			said = append(said, s.TLS)
		}
	}
	return said
}

// terms puts what was negotiated in the same words whoever tells it.
func terms(version, cipher, group string) string {
	return fmt.Sprintf("%s, %s, %s", version, cipher, group)
}
