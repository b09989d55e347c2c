//go:build stack

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// overHTTPS runs the test application on FPM behind https and HTTP/3, as shop.test.
func overHTTPS(t *testing.T, top string) *secureGateway {
	t.Helper()
	g := newSecureGateway(t)
	text := fmt.Sprintf("listen = [\"https://%s\"]\nadmin = \"unix:%s/admin.sock\"\nstorage = \"%s/storage\"\nhttp3 = true\n", g.secure, g.dir, g.dir) +
		top + fmt.Sprintf("\n[[site]]\nhosts = [\"shop.test\"]\nroot = %q\napp = \"app\"\n", stack.App(t).Public) +
		fastcgiUpstream("app", fpmPool())
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t)
	return g
}

// chromium loads a page of shop.test in a profile of its own, which trusts the gateway's authority as a user's would
// that ran gateway trust, and returns what the page is then. A warning would be there instead of the page.
func (g *secureGateway) chromium(t *testing.T, home, page string, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	at := fmt.Sprintf("shop.test:%d", portOf(t, g.secure))
	cmd := exec.CommandContext(ctx, "chromium", append(flags,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--user-data-dir="+filepath.Join(home, "profile"), "--host-resolver-rules=MAP shop.test 127.0.0.1",
		"--dump-dom", "https://"+at+page)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, said.String())
	}
	return string(out)
}

// trustingHome is a home folder in which browsers trust the gateway's authority.
func (g *secureGateway) trustingHome(t *testing.T) string {
	t.Helper()
	home := shortDir(t)
	database := filepath.Join(home, ".pki/nssdb")
	if err := os.MkdirAll(database, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-N", "--empty-password"}, {"-A", "-t", "C,,", "-n", "gateway", "-i", filepath.Join(g.dir, "storage/internal/root.crt")},
	} {
		if out, err := exec.Command("certutil", append(args, "-d", "sql:"+database)...).CombinedOutput(); err != nil {
			t.Fatalf("certutil: %v\n%s", err, out)
		}
	}
	return home
}

func TestChromiumLoadsALaravelPage(t *testing.T) {
	g := overHTTPS(t, "")
	home := g.trustingHome(t)
	// A browser believes Alt-Svc only of origins whose root came with it, so it is told to begin with UDP.
	quic := fmt.Sprintf("--origin-to-force-quic-on=shop.test:%d", portOf(t, g.secure))
	for proto, flags := range map[string][]string{"HTTP/2.0": nil, "HTTP/3.0": {"--enable-quic", quic}} {
		page := g.chromium(t, home, "/benchmark?over="+proto, flags...)
		if !strings.Contains(page, "<title>Benchmark</title>") || !strings.Contains(page, `<span id="visits">`) {
			t.Errorf("%s: the page is %s", proto, page)
		}
		if e := g.access(t, "/benchmark?over="+proto, 1)[0]; e.Proto != proto || e.Status != 200 {
			t.Errorf("it came over %s with %d, want %s", e.Proto, e.Status, proto)
		}
	}
}
