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
	"syscall"
	"time"
)

const rootLifetime = 10 * 365 * 24 * time.Hour

// root is the internal authority's certificate and key.
type root struct {
	file        string // of the certificate
	certificate *x509.Certificate
	key         crypto.PrivateKey
}

// openRoot loads the root from dir. It makes one if dir does not exist, or if the one there may not vouch for what is
// wanted; that one is put aside. The directory appears whole, by one rename: of two processes that start at the same
// time, one makes the root and both use it.
func openRoot(dir string, want constraints, now time.Time) (*root, error) {
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = createRoot(dir, want, now)
	}
	if err != nil {
		return nil, fmt.Errorf("make the internal root: %w", err)
	}
	r, err := loadRoot(dir, now)
	if err == nil && !want.heldBy(r.certificate) {
		if r, err = replaceRoot(dir, want, now, r); err != nil {
			return nil, fmt.Errorf("make another internal root: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load the internal root: %w", err)
	}
	return r, nil
}

// replaceRoot puts a root aside, under a name with its serial, and makes another.
func replaceRoot(dir string, want constraints, now time.Time, old *root) (*root, error) {
	aside := fmt.Sprintf("%s.%x", dir, old.certificate.SerialNumber.Bytes()[:4])
	if err := os.Rename(dir, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := createRoot(dir, want, now); err != nil {
		return nil, err
	}
	return loadRoot(dir, now)
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
	return &root{file: certFile, certificate: pair.Leaf, key: pair.PrivateKey}, nil
}

func createRoot(dir string, want constraints, now time.Time) error {
	certPEM, keyPEM, err := generateRoot(want, now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-*.new") // 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	certFile, keyFile := rootFiles(made)
	if err := errors.Join(os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, keyPEM, 0o600)); err != nil {
		return err
	}
	if err := giveAway(filepath.Dir(dir), made, certFile, keyFile); err != nil {
		return err
	}
	if err := os.Rename(made, dir); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was faster
}

// giveAway makes the owner of a folder that of what was made in it: root may make what the gateway, which is not root,
// has to read.
func giveAway(folder string, made ...string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	for _, name := range made {
		err = errors.Join(err, os.Lchown(name, int(owner.Uid), int(owner.Gid)))
	}
	return err
}

// generateRoot makes a root that may vouch for what is wanted alone, and whose name has a part of its serial, so that the roots of several machines can
// be told apart in one trust store.
func generateRoot(want constraints, now time.Time) (certPEM, keyPEM []byte, err error) {
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
	if err := want.apply(template); err != nil {
		return nil, nil, err
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
