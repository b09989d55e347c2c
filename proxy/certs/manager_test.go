package certs

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newManager(t *testing.T, cfg Config) *Manager {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// serve answers TLS connections with m's certificates until the test ends.
func serve(t *testing.T, m *Manager) net.Addr {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, inner, m)
	return inner.Addr()
}

func serveOn(t *testing.T, inner net.Listener, m *Manager) {
	t.Helper()
	srv := &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }),
		TLSConfig: m.TLSConfig(),
		ErrorLog:  quiet(),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.ServeTLS(inner, "", "")
	}()
	t.Cleanup(func() { srv.Close(); <-done })
}

// shake makes one handshake and returns the leaf that the server showed.
func shake(t *testing.T, addr net.Addr, cfg *tls.Config) (*x509.Certificate, error) {
	t.Helper()
	dialer := &net.Dialer{Deadline: time.Now().Add(10 * time.Second)}
	conn, err := tls.DialWithDialer(dialer, "tcp", addr.String(), cfg)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil
}

// trusting returns a client configuration with the internal roots of m as its only ones.
func trusting(t *testing.T, m *Manager, name string) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	for _, file := range m.RootFiles() {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !roots.AppendCertsFromPEM(text) {
			t.Fatalf("no certificate in %s", file)
		}
	}
	return &tls.Config{RootCAs: roots, ServerName: name}
}

func TestInternalCertificateIsTrustedByWhoTrustsTheRoot(t *testing.T) {
	hosts := []string{"localhost", "Shop.Test.", "*.shop.test", "127.0.0.1", "::1", "intranet"}
	m := newManager(t, Config{Hosts: hosts, Storage: t.TempDir()}) // acme, but no host that it could ask for
	addr := serve(t, m)
	for _, name := range []string{"localhost", "shop.test", "www.shop.test", "127.0.0.1", "intranet"} {
		if _, err := shake(t, addr, trusting(t, m, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHTTP2IsSpoken(t *testing.T) {
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"127.0.0.1"}, Storage: t.TempDir()})
	addr := serve(t, m)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(t, m, ""), ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("https://" + addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Proto != "HTTP/2.0" {
		t.Errorf("proto = %s, want HTTP/2.0", resp.Proto)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: t.TempDir()})
	cfg := trusting(t, m, "localhost")
	cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := shake(t, serve(t, m), cfg); err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func TestUnknownNameGetsNoCertificate(t *testing.T) {
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"*.shop.example", "localhost"}, Storage: t.TempDir()})
	addr := serve(t, m)
	for _, name := range []string{"other.example", "a.b.shop.example", "shop.example", "xshop.example"} {
		if _, err := shake(t, addr, &tls.Config{ServerName: name, InsecureSkipVerify: true}); err == nil {
			t.Errorf("%s: a certificate was shown", name)
		}
	}
}

func TestNoNameGetsTheFirstSite(t *testing.T) {
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"shop.example", "localhost"}, Storage: t.TempDir()})
	leaf, err := shake(t, serve(t, m), &tls.Config{InsecureSkipVerify: true})
	if err != nil || leaf.VerifyHostname("shop.example") != nil {
		t.Errorf("leaf = %v, %v; want shop.example's", leaf, err)
	}
}

func TestWithoutAnyHostNoHandshakeSucceeds(t *testing.T) {
	m := newManager(t, Config{})
	if _, err := m.TLSConfig().GetCertificate(&tls.ClientHelloInfo{}); err == nil {
		t.Error("a certificate was shown")
	}
	if files := m.RootFiles(); len(files) != 0 {
		t.Errorf("root files = %q, want none", files)
	}
	if err := m.Start(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOneLeafPerPattern(t *testing.T) {
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"*.shop.test"}, Storage: t.TempDir()})
	a, _ := m.internal.certificate("a.shop.test")
	b, _ := m.internal.certificate("b.shop.test")
	if a != b || len(m.internal.leaves) != 1 {
		t.Errorf("%d leaves for one pattern", len(m.internal.leaves))
	}
}

func TestLeafIsRenewedBeforeItEnds(t *testing.T) {
	now := time.Now()
	m := newManager(t, Config{Hosts: []string{"localhost"}, Storage: t.TempDir(), now: func() time.Time { return now }})
	first, err := m.internal.certificate("localhost")
	if err != nil {
		t.Fatal(err)
	}
	if got := first.Leaf.NotAfter.Sub(now).Round(time.Hour); got != 7*24*time.Hour {
		t.Errorf("lifetime = %v, want 7 days", got)
	}
	now = now.Add(4 * 24 * time.Hour)
	if again, _ := m.internal.certificate("localhost"); again != first {
		t.Error("renewed with three days left")
	}
	now = now.Add(24 * time.Hour)
	if again, _ := m.internal.certificate("localhost"); again == first || !again.Leaf.NotAfter.After(first.Leaf.NotAfter) {
		t.Error("not renewed with two days left")
	}
}

func TestRootIsMadeOnceAndGuarded(t *testing.T) {
	storage := filepath.Join(t.TempDir(), "new", "storage")
	cfg := Config{Hosts: []string{"localhost"}, Storage: storage}
	first, second := newManager(t, cfg), newManager(t, cfg)
	if !first.internal.local.certificate.Equal(second.internal.local.certificate) {
		t.Error("the second manager made a root of its own")
	}
	want := map[string]fs.FileMode{
		storage:                            fs.ModeDir | 0o700,
		filepath.Join(storage, "internal"): fs.ModeDir | 0o700,
		filepath.Join(storage, "internal", "root.key"): 0o600,
		first.RootFiles()[0]:                           0o600,
	}
	for name, mode := range want {
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, want mode %v", name, info.Mode(), mode)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(storage, "*.new")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestManyProcessesMakeOneRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "internal")
	roots := make(chan *root, 8)
	for range cap(roots) {
		go func() {
			r, err := openRoot(dir, localConstraints(), time.Now())
			if err != nil {
				t.Error(err)
			}
			roots <- r
		}()
	}
	first := <-roots
	for range cap(roots) - 1 {
		if r := <-roots; first == nil || r == nil || !r.certificate.Equal(first.certificate) {
			t.Fatal("two roots were made")
		}
	}
}

func TestUnusableRootIsAnErrorThatNamesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "internal")
	if _, err := openRoot(dir, localConstraints(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := openRoot(dir, localConstraints(), time.Now().Add(11*365*24*time.Hour)); err == nil || !strings.Contains(err.Error(), "remove "+dir) {
		t.Errorf("ended root: err = %v, want one that says what to remove", err)
	}
	_, keyFile := rootFiles(dir)
	if err := os.WriteFile(keyFile, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRoot(dir, localConstraints(), time.Now()); err == nil {
		t.Error("broken key: no error")
	}
}

func TestBadConfigNamesTheKey(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	public := []string{"shop.example"}
	cases := []struct {
		name string
		cfg  Config
		want string
	}{
		{"issuer", Config{Issuer: "letsencrypt"}, `tls.issuer: unknown "letsencrypt"; want acme, internal or files`},
		{"internal without storage", Config{Issuer: "internal", Hosts: public}, "storage:"},
		{"acme without storage", Config{Hosts: public, TLSPort: 443}, "storage:"},
		{"acme without a listener", Config{Hosts: public, Storage: "x"}, "listen:"},
		{"acme wildcard", Config{Hosts: []string{"*.shop.example"}, Storage: "x", TLSPort: 1}, "hosts: no authority proves *.shop.example without a DNS challenge; set tls.dns.provider"},
		{"acme nonsense", Config{Hosts: []string{"a b.example"}, Storage: "x", TLSPort: 1}, "hosts:"},
		{"root missing", Config{Hosts: public, Storage: "x", TLSPort: 1, Authorities: []Authority{{RootFile: "/nowhere.pem"}}}, "tls.ca_root: open /nowhere.pem"},
		{"root empty", Config{Hosts: public, Storage: "x", TLSPort: 1, Authorities: []Authority{{RootFile: empty}}}, "tls.ca_root: no certificate in"},
		{"storage is a file", Config{Hosts: public, Storage: empty, TLSPort: 1}, "storage:"},
		{"files missing", Config{Issuer: "files", CertFile: "/nowhere.crt", KeyFile: "/nowhere.key"}, "tls.cert, tls.key: stat /nowhere.crt"},
		{"files not named", Config{Issuer: "files"}, "tls.cert, tls.key:"},
		{"files empty", Config{Issuer: "files", CertFile: empty, KeyFile: empty}, "tls.cert, tls.key:"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("err = %v, want it to begin with %q", err, c.want)
			}
		})
	}
}

func TestHTTPChallengePassesOtherRequestsOn(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "next") })
	managers := map[string]*Manager{
		"internal": newManager(t, Config{Hosts: []string{"localhost"}, Storage: t.TempDir()}),
		"acme":     newManager(t, Config{Hosts: []string{"shop.example"}, Storage: t.TempDir(), HTTPPort: 80}),
	}
	for name, m := range managers {
		for _, path := range []string{"/", "/.well-known/acme-challenge/unknown"} {
			rec := httptest.NewRecorder()
			m.HTTPChallenge(next).ServeHTTP(rec, httptest.NewRequest("GET", "http://shop.example"+path, nil))
			if rec.Body.String() != "next" {
				t.Errorf("%s %s: body = %q, want next's", name, path, rec.Body)
			}
		}
	}
}
