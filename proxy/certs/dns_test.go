package certs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/certmagic"
	"github.com/libdns/cloudflare"
	acmelib "github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"
)

func TestOptionsReachTheProvider(t *testing.T) {
	solver, err := newSolver(DNS{Provider: "cloudflare", Options: map[string]string{"api_token": "a", "zone_token": "z"}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	dns := solver.(*certmagic.DNS01Solver)
	if p := dns.DNSProvider.(*cloudflare.Provider); p.APIToken != "a" || p.ZoneToken != "z" {
		t.Errorf("provider = %+v", p)
	}
	if dns.PropagationTimeout != -1 {
		t.Errorf("propagation = %v, want none", dns.PropagationTimeout)
	}
}

func TestEveryProviderCanBeMade(t *testing.T) {
	for name, options := range DNSProviders() {
		all := make(map[string]string)
		for _, option := range options {
			all[option] = "true" // a program, where one is asked for
		}
		if _, err := newSolver(DNS{Provider: name, Options: all}, zap.NewNop()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, option := range providers()[name].required {
			delete(all, option)
			_, err := newSolver(DNS{Provider: name, Options: all}, zap.NewNop())
			if err == nil || !strings.HasPrefix(err.Error(), "tls.dns."+option+": missing") {
				t.Errorf("%s without %s: err = %v", name, option, err)
			}
			all[option] = "true"
		}
	}
}

func TestBadDNSConfigNamesTheKey(t *testing.T) {
	for want, cfg := range map[string]DNS{
		"tls.dns.provider: unknown":    {Provider: "bind"},
		"tls.dns.api_tokn: unknown":    {Provider: "cloudflare", Options: map[string]string{"api_tokn": "x"}},
		"tls.dns.api_token: missing":   {Provider: "hetzner"},
		"tls.dns.command: exec:":       {Provider: "exec", Options: map[string]string{"command": "/nowhere/hook"}},
		"tls.dns.max_retries: unknown": {Provider: "route53", Options: map[string]string{"max_retries": "5"}},
	} {
		if _, err := newSolver(cfg, zap.NewNop()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
}

// TestHookIsToldVerbNameAndValue also ends the hook's context before the clean-up, as an order that was given up does.
func TestHookIsToldVerbNameAndValue(t *testing.T) {
	dir := t.TempDir()
	script, said := filepath.Join(dir, "hook"), filepath.Join(dir, "said")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >> "+said+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := &hook{command: script, logger: zap.NewNop()}
	challenge := acmelib.Challenge{Identifier: acmelib.Identifier{Type: "dns", Value: "shop.example"}, KeyAuthorization: "key"}
	ctx, cancel := context.WithCancel(t.Context())
	if err := h.Present(ctx, challenge); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := h.CleanUp(ctx, challenge); err != nil {
		t.Fatal(err)
	}
	value := challenge.DNS01KeyAuthorization()
	want := "present _acme-challenge.shop.example " + value + "\ncleanup _acme-challenge.shop.example " + value + "\n"
	if got, err := os.ReadFile(said); err != nil || string(got) != want {
		t.Errorf("said %q, %v; want %q", got, err, want)
	}
	h.command = filepath.Join(dir, "nowhere")
	if err := h.Present(t.Context(), challenge); err == nil || !strings.Contains(err.Error(), h.command) {
		t.Errorf("err = %v, want one that names the command", err)
	}
}
