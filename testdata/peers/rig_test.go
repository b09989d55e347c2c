package main

import (
	"os"
	"strings"
	"testing"

	"gateway/conf"
)

func someSettings(t *testing.T) settings {
	t.Helper()
	public := t.TempDir()
	at := func(host, upstream, address string, http bool) site {
		return site{Host: host, Upstream: upstream, Address: address, Public: public, Source: "..", HTTP: http}
	}
	return settings{Dir: t.TempDir(), Listen: "127.0.0.1:8080", Access: true, Sites: []site{
		at(helloHost, "fpm", "unix:/tmp/fpm.sock", false),
		at(laravelHost, "fpm", "unix:/tmp/fpm.sock", false),
		at(plainHost, "plain", "127.0.0.1:9000", true),
	}}
}

func TestConfigurationOfTheGatewayIsValid(t *testing.T) {
	s := someSettings(t)
	s.Keep, s.Access = 7, false
	path, err := s.render("..", "peers/gateway.toml.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := conf.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Sites) != 3 || len(cfg.Upstreams) != 2 || cfg.Log.Access {
		t.Errorf("%d sites, %d upstreams, access log %v; want 3, 2 and none", len(cfg.Sites), len(cfg.Upstreams), cfg.Log.Access)
	}
	if got := cfg.Upstreams["fpm"].Keepalive.MaxIdle; got != 7 {
		t.Errorf("max_idle of FPM = %d, want 7", got)
	}
	if got := cfg.Upstreams["plain"].Keepalive.MaxIdle; got != 64 {
		t.Errorf("max_idle of the HTTP backend = %d, want the default", got)
	}
}

func TestConfigurationOfNginxFollowsSettings(t *testing.T) {
	for _, c := range []struct {
		name       string
		keep       int
		access     bool
		has, lacks string
	}{
		{"as documented", 0, true, "'' close;", "keep"},
		{"kept", 5, true, "fastcgi_keep_conn on;", "close;"},
		{"quiet", 0, false, "access_log off; sendfile on;", "access.log combined"},
	} {
		s := someSettings(t)
		s.Keep, s.Access = c.keep, c.access
		path, err := s.render("..", "peers/nginx.conf.tmpl", "nginx/laravel.conf.tmpl", "nginx/octane.conf.tmpl")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		conf := strings.ReplaceAll(strings.Join(strings.Fields(string(text)), " "), "keepalive_requests", "")
		if !strings.Contains(conf, c.has) || strings.Contains(conf, c.lacks) {
			t.Errorf("%s: want %q and not %q in\n%s", c.name, c.has, c.lacks, text)
		}
		if got := strings.Count(conf, "upstream fpm {"); got != 1 {
			t.Errorf("%s: upstream fpm stands there %d times, want once", c.name, got)
		}
	}
}

func TestCaddyIsGivenAddressesAsItWritesThem(t *testing.T) {
	s := someSettings(t)
	path, err := s.render("..", "peers/Caddyfile.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http://hello.bench:8080 {", "php_fastcgi unix//tmp/fpm.sock", "reverse_proxy 127.0.0.1:9000", "output file"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the Caddyfile lacks %q", want)
		}
	}
}

func TestConfigurationsWithTLSShowOneCertificate(t *testing.T) {
	c := someCertificate(t)
	for _, peer := range []struct {
		files []string
		want  []string
	}{
		{[]string{"peers/nginx.conf.tmpl", "nginx/laravel.conf.tmpl", "nginx/octane.conf.tmpl"},
			[]string{"listen 127.0.0.1:8080 ssl http2;", "ssl_certificate " + c.File + ";", "ssl_certificate_key " + c.Key + ";", "TLSv1.3"}},
		{[]string{"peers/Caddyfile.tmpl"}, []string{"https://hello.bench:8080 {", "tls " + c.File + " " + c.Key, "protocols h1 h2"}},
		{[]string{"peers/gateway.toml.tmpl"}, []string{"https://127.0.0.1:8080", `issuer = "files"`}},
	} {
		s := someSettings(t)
		s.TLS = c
		path, err := s.render("..", peer.files...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range peer.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
}

func TestConfigurationOfTheGatewayWithTLSIsValid(t *testing.T) {
	s := someSettings(t)
	s.TLS = someCertificate(t)
	path, err := s.render("..", "peers/gateway.toml.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := conf.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Listen) != 1 || cfg.Listen[0].Scheme != "https" || cfg.TLS.Cert != s.TLS.File || cfg.TLS.Key != s.TLS.Key {
		t.Errorf("listen %v, tls %+v; want one https address and the files", cfg.Listen, cfg.TLS)
	}
}
