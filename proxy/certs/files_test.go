package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// pairIn writes a certificate for host and its key to dir, with a modification time of its own.
func pairIn(t *testing.T, dir, host string, modified time.Time) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	cert, key := pairFor(t, host)
	write(t, certFile, cert, modified)
	write(t, keyFile, key, modified)
	return certFile, keyFile
}

func pairFor(t *testing.T, host string) (certPEM, keyPEM []byte) {
	t.Helper()
	r, err := openRoot(filepath.Join(t.TempDir(), "internal"), constraintsFor([]string{host}), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := r.sign(host, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func write(t *testing.T, name string, text []byte, modified time.Time) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// clock is moved by hand, and read by the server's goroutines only between two moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }
func (c *clock) tick()          { c.Time = c.Add(recheckAfter) }

func filesManager(t *testing.T, host string, hosts ...string) (*Manager, *clock, *observer.ObservedLogs) {
	t.Helper()
	dir, at := t.TempDir(), &clock{time.Now()}
	certFile, keyFile := pairIn(t, dir, host, at.Time)
	core, logs := observer.New(zapcore.InfoLevel)
	m := newManager(t, Config{
		Issuer: "files", Hosts: hosts, CertFile: certFile, KeyFile: keyFile, Storage: filepath.Join(dir, "storage"),
		Logger: zap.New(core), now: at.now,
	})
	return m, at, logs
}

func shows(t *testing.T, m *Manager, host string) {
	t.Helper()
	pair, err := m.TLSConfig().GetCertificate(&tls.ClientHelloInfo{ServerName: "any.example"})
	if err != nil {
		t.Fatal(err)
	}
	if err := pair.Leaf.VerifyHostname(host); err != nil {
		t.Error(err)
	}
}

func TestFilesAreServedToAnyName(t *testing.T) {
	m, _, _ := filesManager(t, "shop.example")
	addr := serve(t, m)
	for _, name := range []string{"shop.example", "", "other.example"} {
		leaf, err := shake(t, addr, &tls.Config{ServerName: name, InsecureSkipVerify: true})
		if err != nil || leaf.VerifyHostname("shop.example") != nil {
			t.Errorf("%q: leaf = %v, %v; want shop.example's", name, leaf, err)
		}
	}
}

func TestChangedFilesAreReadAnew(t *testing.T) {
	m, at, _ := filesManager(t, "old.example")
	pairIn(t, filepath.Dir(m.files.certFile), "new.example", at.Add(time.Minute))
	shows(t, m, "old.example") // looked at a moment ago
	at.tick()
	shows(t, m, "new.example")
}

func TestFilesReplacedByRenameAreReadAnew(t *testing.T) {
	m, at, _ := filesManager(t, "old.example")
	staged := t.TempDir()
	certFile, keyFile := pairIn(t, staged, "new.example", at.Time) // even with the same time
	for from, to := range map[string]string{certFile: m.files.certFile, keyFile: m.files.keyFile} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	at.tick()
	shows(t, m, "new.example")
}

func TestHalfReplacedPairLeavesTheOldOneServing(t *testing.T) {
	m, at, logs := filesManager(t, "old.example")
	cert, key := pairFor(t, "new.example")
	write(t, m.files.certFile, cert, at.Add(time.Minute))
	for range 3 {
		at.tick()
		shows(t, m, "old.example")
	}
	if got := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); got != 1 {
		t.Errorf("%d errors logged, want 1", got)
	}
	write(t, m.files.keyFile, key, at.Add(2*time.Minute))
	at.tick()
	shows(t, m, "new.example")
}

func TestRemovedFilesLeaveTheOldPairServing(t *testing.T) {
	m, at, logs := filesManager(t, "old.example")
	os.Remove(m.files.certFile)
	for range 3 {
		at.tick()
		shows(t, m, "old.example")
	}
	if got := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); got != 1 {
		t.Errorf("%d errors logged, want 1", got)
	}
	pairIn(t, filepath.Dir(m.files.certFile), "new.example", at.Time)
	at.tick()
	shows(t, m, "new.example")
}

func TestLocalHostBesideFilesTakesTheInternalAuthority(t *testing.T) {
	m, _, _ := filesManager(t, "shop.example", "shop.example", "localhost")
	if _, err := shake(t, serve(t, m), trusting(t, m, "localhost")); err != nil {
		t.Error(err)
	}
}

func TestLocalHostInTheFilesTakesTheFiles(t *testing.T) {
	m, _, _ := filesManager(t, "shop.test", "shop.test")
	if len(m.RootFiles()) != 0 {
		t.Error("an internal root was made although the file covers the only host")
	}
	shows(t, m, "shop.test")
}
