//go:build stack

package trust

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// addAndRemove puts the root into a store and takes it out, each twice, and calls look in between.
func addAndRemove(t *testing.T, store Store, root Root, trusted func() bool) {
	t.Helper()
	t.Cleanup(func() { store.Remove(context.Background(), root) }) // also when the test breaks off
	state := func(want bool) {
		t.Helper()
		if has, err := store.Has(t.Context(), root); has != want || err != nil {
			t.Errorf("Has = %v, %v; want %v", has, err, want)
		}
		if got := trusted(); got != want {
			t.Errorf("trusted = %v, want %v", got, want)
		}
	}
	state(false)
	if err := store.Add(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	state(true)
	for range 2 {
		if err := store.Remove(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		state(false)
	}
}

func TestNSSDatabase(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".pki/nssdb")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("certutil", "-N", "--empty-password", "-d", "sql:"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stores := findNSS(Config{Home: home})
	if len(stores) != 1 {
		t.Fatalf("stores = %v", stores)
	}
	root := newRoot(t)
	addAndRemove(t, stores[0], root, func() bool {
		// -u L asks whether it is good as an authority for servers.
		return exec.Command("certutil", "-V", "-d", "sql:"+dir, "-u", "L", "-n", root.alias()).Run() == nil
	})
	t.Setenv("PATH", t.TempDir())
	if err := stores[0].Add(t.Context(), root); !errors.Is(err, ErrNoCertutil) {
		t.Errorf("without certutil: err = %v", err)
	}
}

func TestJavaKeystore(t *testing.T) {
	installed, found := findJava("")
	if !found {
		t.Fatal("no Java; run testdata/install.sh")
	}
	// The same Java with a keystore of its own.
	home := t.TempDir()
	for _, dir := range []string{"bin", "lib/security"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(installed.(*java).keytool, filepath.Join(home, "bin/keytool")); err != nil {
		t.Fatal(err)
	}
	keystore, err := os.ReadFile(installed.(*java).keystore)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "lib/security/cacerts"), keystore, 0o600); err != nil {
		t.Fatal(err)
	}
	store, found := findJava(home)
	if !found || store.Name() == installed.Name() {
		t.Fatalf("store = %v, %v", store, found)
	}
	root := newRoot(t)
	addAndRemove(t, store, root, func() bool {
		_, err := store.(*java).run(t.Context(), root.alias(), "-list")
		return err == nil
	})
	// What Debian has copied from the system's store goes as well.
	if _, err := store.(*java).run(t.Context(), aliases(root)[1], "-importcert", "-noprompt", "-file", root.File); err != nil {
		t.Fatal(err)
	}
	if has, err := store.Has(t.Context(), root); !has || err != nil {
		t.Errorf("Debian's copy: %v, %v", has, err)
	}
	if err := store.Remove(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if has, err := store.Has(t.Context(), root); has || err != nil {
		t.Errorf("Debian's copy after Remove: %v, %v", has, err)
	}
}

// TestSystemStore changes the store of this machine and changes it back, where it may.
func TestSystemStore(t *testing.T) {
	store, found := findSystem("")
	if !found {
		t.Fatal("no store of the system; run testdata/install.sh")
	}
	root := newRoot(t)
	if os.Geteuid() != 0 {
		var refused *DeniedError
		if err := store.Add(t.Context(), root); !errors.As(err, &refused) {
			t.Errorf("err = %v, want a *DeniedError", err)
		}
		return
	}
	if java, found := findJava(""); found {
		t.Cleanup(func() { java.Remove(context.Background(), root) }) // Debian copies the root there
	}
	addAndRemove(t, store, root, func() bool {
		return exec.Command("openssl", "verify", "-CApath", "/etc/ssl/certs", root.File).Run() == nil
	})
}
