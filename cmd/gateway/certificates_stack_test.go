//go:build stack

package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// secureGateway is a gateway with a TLS listener, whose configuration is written by its test.
type secureGateway struct {
	process
	plain, secure string // host:port of its listeners
}

// newSecureGateway chooses addresses; serve starts it.
func newSecureGateway(t *testing.T) *secureGateway {
	t.Helper()
	g := &secureGateway{plain: freePort(t), secure: freePort(t)}
	g.dir = shortDir(t)
	g.config = filepath.Join(g.dir, "gateway.toml")
	if err := os.Mkdir(filepath.Join(g.dir, "public"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "public/a.txt"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	return g
}

// configure writes a configuration for one site of these hosts, whose application is not there.
func (g *secureGateway) configure(t *testing.T, tls string, hosts ...string) {
	t.Helper()
	text := fmt.Sprintf("listen = [\"https://%s\", \"http://%s\"]\nadmin = \"unix:%s/admin.sock\"\nstorage = \"%s/storage\"\n", g.secure, g.plain, g.dir, g.dir)
	text += tls + fmt.Sprintf("\n[[site]]\nhosts = [\"%s\"]\nroot = %q\napp = \"gone\"\n[upstream.gone]\nhttp = [\"127.0.0.1:1\"]\n", strings.Join(hosts, "\", \""), filepath.Join(g.dir, "public"))
	if err := os.WriteFile(g.config+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(g.config+".new", g.config); err != nil {
		t.Fatal(err)
	}
}

func (g *secureGateway) serve(t *testing.T) {
	t.Helper()
	if err := g.start(); err != nil {
		t.Fatalf("gateway: %v\n%s", err, g.log())
	}
	t.Cleanup(func() {
		g.stop(t)
		if t.Failed() {
			t.Logf("end of the gateway's log:\n%s", tail(g.log()))
		}
	})
}

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ask makes a connection and a request, and returns the certificate and whether a session went on.
func (g *secureGateway) ask(cfg *tls.Config) (*x509.Certificate, bool, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", g.secure, cfg)
	if err != nil {
		return nil, false, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintf(conn, "GET /a.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", cfg.ServerName)
	if _, err := io.ReadAll(conn); err != nil {
		return nil, false, err
	}
	state := conn.ConnectionState()
	return state.PeerCertificates[0], state.DidResume, nil
}

// await asks until there is an answer.
func (g *secureGateway) await(t *testing.T, cfg *tls.Config) *x509.Certificate {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		leaf, _, err := g.ask(cfg)
		if err == nil {
			return leaf
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", cfg.ServerName, err)
		}
		<-tick.C
	}
}

// TestTwoGatewaysShareARedis has one get a certificate that only the other can prove: the authority's questions reach the
// second one, as a load balancer may send them.
func TestTwoGatewaysShareARedis(t *testing.T) {
	const password = "open sesame"
	redis := stack.Redis(t, password)
	first, second := newSecureGateway(t), newSecureGateway(t)
	pebble := stack.Pebble(t, stack.PebbleConfig{HTTPPort: portOf(t, second.plain), TLSPort: portOf(t, second.secure), NonceReject: 15})
	shared := fmt.Sprintf("[tls]\nca = %q\nca_root = %q\n[tls.redis]\naddress = \"unix:%s\"\npassword = %q\n", pebble.Directory, pebble.RootFile, redis.Socket, password)
	client := func(name string) *tls.Config { return &tls.Config{ServerName: name, RootCAs: pebble.Roots} }

	second.configure(t, shared, "second.example.com")
	second.serve(t)
	second.await(t, client("second.example.com"))

	first.configure(t, shared, "shared.example.com")
	first.serve(t)
	leaf := first.await(t, client("shared.example.com"))

	// The other one takes it from there, and nobody asks for another.
	second.configure(t, shared, "second.example.com", "shared.example.com")
	if got := second.await(t, client("shared.example.com")); !got.Equal(leaf) {
		t.Error("the second gateway has a certificate of its own")
	}
	// Sessions go on with the other, and over a restart.
	remembering := client("shared.example.com")
	remembering.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	if _, _, err := first.ask(remembering); err != nil {
		t.Fatal(err)
	}
	if _, resumed, err := second.ask(remembering); err != nil || !resumed {
		t.Errorf("with the other: resumed = %v, %v", resumed, err)
	}
	first.stop(t)
	pebble.Stop()
	if err := first.start(); err != nil {
		t.Fatal(err)
	}
	if got, resumed, err := first.ask(remembering); err != nil || !resumed || !got.Equal(leaf) {
		t.Errorf("after a restart: resumed = %v, %v", resumed, err)
	}
}

// TestTrustedLocalHTTPS has curl, which reads the system's store, believe the gateway after "gateway trust" alone, and
// takes that back.
func TestTrustedLocalHTTPS(t *testing.T) {
	g := newSecureGateway(t)
	g.configure(t, "", "shop.test")
	g.serve(t)
	home := t.TempDir()
	nssdb := filepath.Join(home, ".pki/nssdb")
	if err := os.MkdirAll(nssdb, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("certutil", "-N", "--empty-password", "-d", "sql:"+nssdb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trust := func(args ...string) (string, error) {
		cmd := exec.Command(binary, append([]string{"trust", "-c", g.config}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "SUDO_USER=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	believed := func() bool {
		port := strconv.Itoa(portOf(t, g.secure))
		return exec.Command("curl", "-s", "--resolve", "shop.test:"+port+":127.0.0.1", "https://shop.test:"+port+"/a.txt").Run() == nil
	}
	if believed() {
		t.Fatal("believed from the start")
	}
	t.Cleanup(func() { trust("--remove") }) // also when the test breaks off
	out, err := trust()
	if !strings.Contains(out, "nss "+nssdb+": gateway internal root") {
		t.Errorf("trust said:\n%s", out)
	}
	if os.Geteuid() != 0 {
		if err == nil || !strings.Contains(out, "sudo gateway trust") {
			t.Errorf("trust: %v\n%s", err, out)
		}
		return
	}
	if err != nil || !believed() {
		t.Errorf("trust: %v, believed: %v\n%s", err, believed(), out)
	}
	if again, err := trust(); err != nil || strings.Count(again, "is there already") < 2 {
		t.Errorf("once more: %v\n%s", err, again)
	}
	if out, err := trust("--remove"); err != nil || strings.Count(out, "removed") < 2 || believed() {
		t.Errorf("remove: %v, believed: %v\n%s", err, believed(), out)
	}
	// The key that can make such certificates stays with its owner.
	info, err := os.Stat(filepath.Join(g.dir, "storage/internal/root.key"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		t.Errorf("root key: %v, %v", info, err)
	}
}
