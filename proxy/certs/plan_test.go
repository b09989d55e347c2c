package certs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPlanSaysHowAndWarns(t *testing.T) {
	certFile, keyFile := pairIn(t, t.TempDir(), "shop.example", time.Now())
	standard := Config{HTTPPort: 80, TLSPort: 443}
	with := func(change func(*Config)) Config {
		cfg := standard
		change(&cfg)
		return cfg
	}
	dns := with(func(c *Config) { c.DNS.Provider = "cloudflare" })
	demand := with(func(c *Config) { c.OnDemand.Permission = "http://app/allowed" })
	files := with(func(c *Config) { c.Issuer, c.CertFile, c.KeyFile = "files", certFile, keyFile })
	for _, c := range []struct {
		name, host string
		cfg        Config
		how, warns string // beginnings; "" warns: none at all
	}{
		{"both ports", "shop.example", standard, "acme-v02.api.letsencrypt.org, by HTTP-01 or TLS-ALPN-01", ""},
		{"fall-back", "shop.example", with(func(c *Config) {
			c.Authorities = []Authority{{Directory: "https://a.example/d"}, {Directory: "https://b.example/d"}}
		}), "a.example, else b.example, by", ""},
		{"no plain listener", "shop.example", with(func(c *Config) { c.HTTPPort = 0 }), "acme-v02.api.letsencrypt.org, by TLS-ALPN-01", "no http listener"},
		{"other ports", "shop.example", Config{HTTPPort: 8080, TLSPort: 8443}, "acme-v02", "an authority asks at ports 80 and 443 only"},
		{"https elsewhere", "shop.example", Config{HTTPPort: 80, TLSPort: 8443}, "acme-v02", ""},
		{"address", "8.8.8.8", standard, "acme-v02", "8.8.8.8 is an address"},
		{"local", "shop.test", standard, "the internal authority", ""},
		{"all others", "*", standard, "none", `"*" gets no certificate`},
		{"dns", "shop.example", dns, "acme-v02.api.letsencrypt.org, by DNS-01 at cloudflare", ""},
		{"dns for a wildcard", "*.shop.example", dns, "acme-v02.api.letsencrypt.org, by DNS-01 at cloudflare", ""},
		{"on demand", "*", demand, "acme-v02.api.letsencrypt.org, by HTTP-01 or TLS-ALPN-01, on demand, if http://app/allowed allows", ""},
		{"on demand for a wildcard", "*.shop.example", demand, "acme-v02", ""},
		{"file", "shop.example", files, certFile + ", until 20", "the certificate in " + certFile + " ends on"},
		{"file for another", "other.example", files, certFile, "the certificate in " + certFile + " is not for other.example but for shop.example"},
		{"file that ended", "shop.example", with(func(c *Config) {
			*c = files
			c.now = func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
		}), certFile, "the certificate in " + certFile + " ended on"},
	} {
		c.cfg.Hosts = []string{c.host}
		plans, err := Plans(c.cfg)
		if err != nil || len(plans) != 1 {
			t.Errorf("%s: plans = %v, %v", c.name, plans, err)
			continue
		}
		p := plans[0]
		if p.Host != c.host || !strings.HasPrefix(p.How, c.how) || !strings.HasPrefix(p.Warning, c.warns) || (c.warns == "") != (p.Warning == "") {
			t.Errorf("%s: plan = %+v, want %q and %q", c.name, p, c.how, c.warns)
		}
	}
	for _, cfg := range []Config{{Hosts: []string{"*.shop.example"}, HTTPPort: 80}, {Issuer: "files", CertFile: filepath.Join(t.TempDir(), "x"), KeyFile: "x"}} {
		if _, err := Plans(cfg); err == nil {
			t.Errorf("%+v: no error", cfg.Hosts)
		}
	}
}

func TestStatusOfFiles(t *testing.T) {
	m, at, _ := filesManager(t, "shop.example", "shop.example", "other.example", "localhost", "*")
	want := map[string]string{"shop.example": "", "other.example": "the certificate file is for [shop.example]", "localhost": "", "*": ""}
	for _, s := range m.Status() {
		if s.Problem != want[s.Host] {
			t.Errorf("%s: problem = %q, want %q", s.Host, s.Problem, want[s.Host])
		}
		if (s.Source == "files") != (s.Host != "localhost") {
			t.Errorf("%s: source = %s", s.Host, s.Source)
		}
	}
	at.Time = at.Add(8 * 24 * time.Hour)
	if s := m.Status()[0]; s.Problem != "the certificate has ended" {
		t.Errorf("after its end: %+v", s)
	}
}
