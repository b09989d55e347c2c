package certs

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/libdns/acmedns"
	"github.com/libdns/cloudflare"
	"github.com/libdns/digitalocean"
	"github.com/libdns/hetzner/v2"
	"github.com/libdns/rfc2136"
	"github.com/libdns/route53"
	"github.com/mholt/acmez/v3"
	"go.uber.org/zap"
)

// DNS proves names by TXT records (DNS-01).
type DNS struct {
	// Provider is a key of DNSProviders. Empty means no DNS-01.
	Provider string
	// Options are the provider's settings.
	Options map[string]string
	// Resolvers are asked for the zone and the record, each host:port. None means the system's for the zone, and the
	// zone's own servers for the record.
	Resolvers []string
	// Propagation bounds the wait until the record is seen. Zero means that it is not looked for.
	Propagation time.Duration
}

// provider is an entry of the registry.
type provider struct {
	make     func() certmagic.DNSProvider
	required []string // options without which it cannot work
}

func providers() map[string]provider {
	return map[string]provider{
		"acmedns": {func() certmagic.DNSProvider { return new(acmedns.Provider) },
			[]string{"username", "password", "subdomain", "server_url"}},
		"cloudflare":   {func() certmagic.DNSProvider { return new(cloudflare.Provider) }, []string{"api_token"}},
		"digitalocean": {func() certmagic.DNSProvider { return new(digitalocean.Provider) }, []string{"auth_token"}},
		"exec":         {nil, []string{"command"}},
		"hetzner":      {func() certmagic.DNSProvider { return new(hetzner.Provider) }, []string{"api_token"}},
		"rfc2136": {func() certmagic.DNSProvider { return new(rfc2136.Provider) },
			[]string{"server", "key_name", "key_alg", "key"}},
		// Without options it takes those of the environment, as other programs of Amazon do.
		"route53": {func() certmagic.DNSProvider { return new(route53.Provider) }, nil},
	}
}

// DNSProviders returns the providers that are built in and the options that each has, sorted.
func DNSProviders() map[string][]string {
	all := make(map[string][]string)
	for name, p := range providers() {
		all[name] = p.options()
	}
	return all
}

// options are the fields of the provider that are written as strings.
func (p provider) options() []string {
	if p.make == nil {
		return p.required
	}
	var names []string
	t := reflect.TypeOf(p.make()).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" && t.Field(i).Type.Kind() == reflect.String {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func newSolver(cfg DNS, logger *zap.Logger) (acmez.Solver, error) {
	p, known := providers()[cfg.Provider]
	if !known {
		return nil, fmt.Errorf("tls.dns.provider: unknown %q", cfg.Provider)
	}
	for name := range cfg.Options {
		if !slices.Contains(p.options(), name) {
			return nil, fmt.Errorf("tls.dns.%s: unknown key; %s has %s", name, cfg.Provider, strings.Join(p.options(), ", "))
		}
	}
	for _, name := range p.required {
		if cfg.Options[name] == "" {
			return nil, fmt.Errorf("tls.dns.%s: missing; %s cannot work without it", name, cfg.Provider)
		}
	}
	if p.make == nil {
		path, err := exec.LookPath(cfg.Options["command"])
		if err != nil {
			return nil, fmt.Errorf("tls.dns.command: %w", err)
		}
		return &hook{command: path, logger: logger}, nil
	}
	made, err := p.with(cfg.Options)
	if err != nil {
		return nil, fmt.Errorf("tls.dns: %w", err)
	}
	wait := cfg.Propagation
	if wait == 0 {
		wait = -1
	}
	return &certmagic.DNS01Solver{DNSManager: certmagic.DNSManager{
		DNSProvider: made, Resolvers: cfg.Resolvers, PropagationTimeout: wait, Logger: logger,
	}}, nil
}

// with fills the provider's fields by the names it has for them in JSON.
func (p provider) with(options map[string]string) (certmagic.DNSProvider, error) {
	made := p.make()
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	return made, json.Unmarshal(text, made)
}
