//go:build stack

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gateway/proxy/bench"
	"gateway/proxy/bench/meter"
	"gateway/testdata/stack"
)

func splitText(t *testing.T, pool *stack.Pool, server *stack.Backend) string {
	t.Helper()
	return strings.Replace(site(t), `"app"`, `"fpm"`, 1) + "split = { resident = 0 }\n" +
		fastcgiUpstream("fpm", pool) + httpUpstream("resident", server)
}

// benchSite is a configuration for commands that need no running gateway.
func benchSite(t *testing.T, pool *stack.Pool, server *stack.Backend) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.toml")
	if err := os.WriteFile(path, []byte(splitText(t, pool, server)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBenchOfFPMAgainstResidentLaravel asks the real application by both ways. The resident one boots once and not for
// each request, which no machine is too busy to see.
func TestBenchOfFPMAgainstResidentLaravel(t *testing.T) {
	pool, server := fpmPool(), stack.Resident(t, 2)
	b := startBench(t, binary, "bench", "-c", benchSite(t, pool, server), "--route", "/api/ping", "--route", "/benchmark",
		"--rate", "40", "--pairs", "6", "--for", "1500ms", "--warmup", "2s", "--json", "-")
	code, words := b.end(t)
	r := resultOf(t, b.out.Bytes())
	if want := map[string]int{bench.Valid: 0, bench.Invalid: 2, bench.Inconclusive: 3}[r.Verdict.State]; code != want {
		t.Errorf("exit code %d after %+v", code, r.Verdict)
	}
	if r.Verdict.Winner == 0 || r.Verdict.State == bench.Valid && r.Verdict.Winner != 1 {
		t.Errorf("verdict %+v", r.Verdict)
	}
	if len(r.Arms) != 2 || r.Arms[0].Kind != "fastcgi" || r.Arms[1].Kind != "http" || len(r.Blocks) != 14 {
		t.Fatalf("arms %+v, %d blocks\n%s", r.Arms, len(r.Blocks), words)
	}
	for _, route := range r.Routes {
		if route.Left != "" || route.Status != 200 {
			t.Errorf("route %+v", route)
		}
	}
	for i, block := range r.Blocks {
		if block.Bad+block.Failed+block.Hung > 0 {
			t.Errorf("block %d: %+v, faults %v, errors %v", i, block.Counts, block.Faults, block.Errors)
		}
		if u := block.Usage; u == nil || u.CPU <= 0 || u.Memory <= 0 || u.Processes < 2 {
			t.Errorf("block %d used %+v", i, u)
		}
	}
	tree, err := meter.FindByAddress("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "no connection of the bench is left", func() bool {
		n, err := tree.Connections()
		return err == nil && n == 0
	})
	t.Logf("%s\n%s", r.Verdict.Text, words)
}

// TestBenchThroughTheRunningGateway asks by way of TLS and the split, as the gateway's log shows.
func TestBenchThroughTheRunningGateway(t *testing.T) {
	g := newSecureGateway(t)
	text := fmt.Sprintf("listen = [\"https://%s\"]\nadmin = \"unix:%s/admin.sock\"\nstorage = \"%s/storage\"\n", g.secure, g.dir, g.dir) +
		splitText(t, fpmPool(), resident())
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t)
	b := startBench(t, binary, "bench", "-c", g.config, "--via", "tls", "--route", "/api/ping", "--closed", "2", "--pairs", "6",
		"--for", "300ms", "--warmup", "300ms", "--json", "-")
	_, words := b.end(t)
	r := resultOf(t, b.out.Bytes())
	if len(r.Blocks) != 14 || r.Settings.Via != "tls" {
		t.Fatalf("%d blocks, settings %+v\n%s", len(r.Blocks), r.Settings, words)
	}
	asked := map[string]int{}
	for _, e := range g.access(t, "/api/ping", 20) {
		asked[e.Variant]++
	}
	if asked["fpm"] == 0 || asked["resident"] == 0 {
		t.Errorf("variants %v", asked)
	}
}
