package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

const rootLifetime = 10 * 365 * 24 * time.Hour

// root is the internal authority's certificate and key.
type root struct {
	certificate *x509.Certificate
	key         crypto.PrivateKey
}

// openRoot loads the root from dir and makes it if dir does not exist. The directory appears whole, by one
// rename: of two processes that start at the same time, one makes the root and both use it.
func openRoot(dir string, now time.Time) (*root, error) {
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = createRoot(dir, now)
	}
	if err != nil {
		return nil, fmt.Errorf("make the internal root: %w", err)
	}
	r, err := loadRoot(dir, now)
	if err != nil {
		return nil, fmt.Errorf("load the internal root: %w", err)
	}
	return r, nil
}

func rootFiles(dir string) (cert, key string) {
	return filepath.Join(dir, "root.crt"), filepath.Join(dir, "root.key")
}

// loadRoot also checks that the key belongs to the certificate, which LoadX509KeyPair does.
func loadRoot(dir string, now time.Time) (*root, error) {
	certFile, keyFile := rootFiles(dir)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	if !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s is no authority", certFile)
	}
	if now.After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("%s ended on %s; remove %s to have a new one made", certFile,
			pair.Leaf.NotAfter.Format(time.DateOnly), dir)
	}
	return &root{certificate: pair.Leaf, key: pair.PrivateKey}, nil
}

func createRoot(dir string, now time.Time) error {
	certPEM, keyPEM, err := generateRoot(now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "internal-*.new") // 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	certFile, keyFile := rootFiles(made)
	if err := errors.Join(os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, keyPEM, 0o600)); err != nil {
		return err
	}
	if err := os.Rename(made, dir); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was faster
}

// generateRoot makes a root whose name has a part of its serial, so that the roots of several machines can
// be told apart in one trust store.
func generateRoot(now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial := newSerial()
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: fmt.Sprintf("gateway internal root %x", serial.Bytes()[:4])},
		NotBefore:             now.Add(-24 * time.Hour),
		NotAfter:              now.Add(rootLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true, // it signs leaves and no further authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// newSerial returns 127 random bits with the top one set: positive, and never short.
func newSerial() *big.Int {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	bytes[0] = bytes[0]&0x7f | 0x40
	return new(big.Int).SetBytes(bytes)
}
