package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newRoot makes a root that nobody needs, with its certificate in a file.
func newRoot(t *testing.T) Root {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "gateway test root"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestLoadWantsACertificate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "key": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n",
		"broken": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: err = %v, want one that names the file", name, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: err = %v", err)
	}
}

func TestSystemStoreIsMadeAnew(t *testing.T) {
	base := t.TempDir()
	if _, found := findSystem(base); found {
		t.Error("a store was found where there is none")
	}
	dir := filepath.Join(base, "usr/local/share/ca-certificates")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	store, found := findSystem(base)
	if !found || store.Name() != "system "+dir {
		t.Fatalf("store = %v, %v", store, found)
	}
	s, root, ctx := store.(*system), newRoot(t), t.Context()
	s.command = []string{"true"}
	for range 2 { // what is so already is no error
		if err := store.Add(ctx, root); err != nil {
			t.Fatal(err)
		}
	}
	if has, err := store.Has(ctx, root); !has || err != nil {
		t.Errorf("after Add: %v, %v", has, err)
	}
	for range 2 {
		if err := store.Remove(ctx, root); err != nil {
			t.Fatal(err)
		}
	}
	if has, err := store.Has(ctx, root); has || err != nil {
		t.Errorf("after Remove: %v, %v", has, err)
	}

	s.command = []string{"false"}
	if err := store.Add(ctx, root); err == nil {
		t.Error("no error though the store was not made anew")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDeniedIsTold(t *testing.T) {
	err := denied("/x", &os.PathError{Op: "open", Path: "/x/y", Err: os.ErrPermission})
	var refused *DeniedError
	if !errors.As(err, &refused) || refused.Path != "/x" || !errors.Is(err, os.ErrPermission) {
		t.Errorf("err = %v, want a *DeniedError", err)
	}
	if err := denied("/x", os.ErrClosed); err != os.ErrClosed {
		t.Errorf("err = %v, want the same", err)
	}
}

func TestDatabasesOfAllProfilesAreFound(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".pki/nssdb", ".mozilla/firefox/a.default", "snap/firefox/common/.mozilla/firefox/b"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, dir, "cert9.db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, ".mozilla/firefox/Crash Reports"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := findNSS(Config{Home: home}); len(got) != 3 {
		t.Errorf("%d databases, want 3", len(got))
	}
	if got := findNSS(Config{}); got != nil {
		t.Errorf("without a home: %v", got)
	}
}
