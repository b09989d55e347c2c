package certs

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// accepted tells whether a client that trusts the root takes a certificate by it for host.
func acceptedBy(t *testing.T, r *root, host string) bool {
	t.Helper()
	pair, err := r.sign(host, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(r.certificate)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: exampleOf(host)})
	return err == nil
}

func TestLocalRootVouchesForLocalNamesAlone(t *testing.T) {
	r, err := openRoot(filepath.Join(t.TempDir(), "internal"), localConstraints(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"localhost": true, "app.localhost": true, "shop.test": true, "*.shop.test": true, "*.test": true, "printer.local": true,
		"db.internal": true, "nas.home.arpa": true, "127.0.0.1": true, "10.1.2.3": true, "::1": true, "fd00::1": true, "fe80::1": true,
		"shop.example": false, "test.example": false, "mylocalhost": false, "8.8.8.8": false, "2001:db8::1": false, "com": false,
	} {
		if got := acceptedBy(t, r, host); got != want {
			t.Errorf("%s: accepted = %v, want %v", host, got, want)
		}
		if got := localConstraints().permits(host); got != want {
			t.Errorf("%s: permitted = %v, want %v", host, got, want)
		}
	}
}

func TestNamedRootVouchesForItsHostsAlone(t *testing.T) {
	for _, c := range []struct {
		hosts    []string
		yes, not []string
	}{
		{[]string{"intranet", "*.corp.example"}, []string{"intranet", "a.corp.example"}, []string{"shop.example", "10.0.0.1", "localhost"}},
		{[]string{"8.8.8.8"}, []string{"8.8.8.8"}, []string{"8.8.4.4", "shop.example", "2001:db8::1"}},
	} {
		r, err := openRoot(filepath.Join(t.TempDir(), "internal-named"), constraintsFor(c.hosts), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range c.yes {
			if !acceptedBy(t, r, host) {
				t.Errorf("%s is not accepted", host)
			}
		}
		for _, host := range c.not {
			if acceptedBy(t, r, host) {
				t.Errorf("%s is accepted", host)
			}
		}
	}
}

func TestRootIsReplacedWhenItMayNotVouchForANewHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "internal-named")
	open := func(hosts ...string) *root {
		r, err := openRoot(dir, constraintsFor(hosts), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := open("a.example", "b.example")
	if !open("a.example").certificate.Equal(first.certificate) {
		t.Error("another root was made for less")
	}
	second := open("a.example", "c.example")
	if second.certificate.Equal(first.certificate) || !acceptedBy(t, second, "c.example") {
		t.Error("no other root was made for more")
	}
	kept, err := filepath.Glob(dir + ".*/root.crt")
	if err != nil || len(kept) != 1 {
		t.Errorf("put aside: %v, %v; want the first root", kept, err)
	}
}

func TestRootsToTrustAreMadeOnce(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Hosts: []string{"shop.example", "intranet", "*"}, Storage: dir}
	files, err := RootFiles(cfg)
	want := []string{filepath.Join(dir, "internal/root.crt"), filepath.Join(dir, "internal-named/root.crt")}
	if err != nil || len(files) != 2 || files[0] != want[0] || files[1] != want[1] {
		t.Fatalf("files = %v, %v; want %v", files, err, want)
	}
	before, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	m := newManager(t, cfg2(cfg))
	if again, err := os.ReadFile(m.RootFiles()[0]); err != nil || string(again) != string(before) {
		t.Errorf("the gateway made another root: %v", err)
	}
	if files, err := RootFiles(Config{Storage: dir}); err != nil || len(files) != 1 || files[0] != want[0] {
		t.Errorf("without local hosts: %v, %v", files, err)
	}
}

// cfg2 is the same for a gateway that could ask an authority.
func cfg2(cfg Config) Config {
	cfg.TLSPort = 443
	return cfg
}
