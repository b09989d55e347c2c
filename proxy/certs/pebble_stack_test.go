//go:build stack

package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const pebbleVersion = "v2.10.3"

// pebble is the ACME authority that Let's Encrypt gives away for tests, with a DNS server that sends every
// name to loopback.
type pebble struct {
	directory string // URL
	rootFile  string // vouches for the directory
	roots     *x509.CertPool
}

// startPebble runs an authority that validates on the given ports and issues for so long.
func startPebble(t *testing.T, httpPort, tlsPort int, validity time.Duration) *pebble {
	t.Helper()
	bin, dir := buildPebble(t), t.TempDir()
	directory, management, dns, control := freeAddr(t), freeAddr(t), freeAddr(t), freeAddr(t)
	certPEM, keyPEM := pairFor(t, "127.0.0.1")
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write(t, certFile, certPEM, time.Now())
	write(t, keyFile, keyPEM, time.Now())
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": directory, "managementListenAddress": management,
		"certificate": certFile, "privateKey": keyFile,
		"httpPort": httpPort, "tlsPort": tlsPort,
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles":   map[string]any{"default": map[string]any{"validityPeriod": int(validity.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	configFile := filepath.Join(dir, "pebble.json")
	write(t, configFile, config, time.Now())
	run(t, filepath.Join(bin, "pebble-challtestsrv"), "-dnsserver", dns, "-management", control,
		"-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	run(t, filepath.Join(bin, "pebble"), "-config", configFile, "-dnsserver", dns, "-strict")
	p := &pebble{directory: "https://" + directory + "/dir", rootFile: certFile, roots: x509.NewCertPool()}
	p.roots.AppendCertsFromPEM(fetch(t, certPEM, "https://"+management+"/roots/0"))
	fetch(t, certPEM, p.directory)
	return p
}

func buildPebble(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install",
		"github.com/letsencrypt/pebble/v2/cmd/pebble@"+pebbleVersion,
		"github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@"+pebbleVersion)
	build.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build pebble: %v\n%s", err, out)
	}
	return bin
}

// run starts a program that ends with the test, and shows what it wrote if the test fails.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(name), out.String())
		}
	})
}

// freeAddr returns a loopback address that was free a moment ago, for TCP and for UDP.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// fetch asks until there is an answer: nothing else tells that the authority is up.
func fetch(t *testing.T, rootPEM []byte, url string) []byte {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(rootPEM)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	var body []byte
	until(t, url, func() error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		return err
	})
	return body
}

func until(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-tick.C
	}
}

func listen(t *testing.T) (net.Listener, int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return l, n
}
