package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gateway/conf"
)

// laravel makes a release with a front controller and returns its folder.
func laravel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	public := filepath.Join(dir, "public")
	if err := os.Mkdir(public, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(public, "index.php"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWarnings(t *testing.T) {
	release := laravel(t)
	public := filepath.Join(release, "public")
	socket := filepath.Join(t.TempDir(), "fpm.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	for _, c := range []struct {
		name   string
		change func(cfg *conf.Config, site *conf.Site, fpm *conf.Upstream)
		want   string // "" for no warning at all
	}{
		{"good", func(*conf.Config, *conf.Site, *conf.Upstream) {}, ""},
		{"no root", func(_ *conf.Config, s *conf.Site, _ *conf.Upstream) { s.Root = "/nowhere" }, "root of shop.example: stat /nowhere: no such"},
		{
			"the release for its public folder",
			func(_ *conf.Config, s *conf.Site, _ *conf.Upstream) { s.Root = release },
			"is the root " + public + "?",
		},
		{
			"no front controller",
			func(_ *conf.Config, s *conf.Site, _ *conf.Upstream) { s.Root = t.TempDir() },
			"want Laravel's public folder",
		},
		{"no socket", func(_ *conf.Config, _ *conf.Site, u *conf.Upstream) { u.FastCGI[0].Address = "/nowhere.sock" }, "upstream fpm: /nowhere.sock is not there"},
		{"no folder of the log", func(cfg *conf.Config, _ *conf.Site, _ *conf.Upstream) { cfg.Log.Output = "/nowhere/a.log" }, "log.output: stat /nowhere"},
		{"bodies that find no room", func(cfg *conf.Config, s *conf.Site, _ *conf.Upstream) { s.Limits.Body, cfg.Limits.SpoolDisk = 6, 10 }, "limits.spool_disk: site shop.example takes bodies of up to 6"},
		{"all names on https", func(_ *conf.Config, s *conf.Site, _ *conf.Upstream) { s.Hosts = []string{"*"} }, `"*" gets no certificate`},
		{"no plain listener", func(cfg *conf.Config, _ *conf.Site, _ *conf.Upstream) { cfg.Listen = cfg.Listen[:1] }, "certificate of shop.example: no http listener, so only TLS-ALPN-01"},
		{
			"all names on http",
			func(cfg *conf.Config, s *conf.Site, _ *conf.Upstream) {
				s.Hosts, cfg.Listen = []string{"*"}, []conf.Listen{{Scheme: "http", Addr: ":80"}}
			},
			"",
		},
	} {
		cfg := &conf.Config{
			Listen: []conf.Listen{{Scheme: "https", Addr: ":443"}, {Scheme: "http", Addr: ":80"}},
			Sites:  []conf.Site{{Hosts: []string{"shop.example"}, Root: public, Index: "index.php", App: "fpm"}},
			Log:    conf.Log{Output: "stdout"},
		}
		fpm := conf.Upstream{Name: "fpm", FastCGI: []conf.Endpoint{{Network: "unix", Address: socket}}}
		c.change(cfg, &cfg.Sites[0], &fpm)
		cfg.Upstreams = map[string]conf.Upstream{"fpm": fpm}

		got := warnings(cfg)
		if len(got) > 1 || (len(got) == 1) != (c.want != "") || !strings.Contains(strings.Join(got, ""), c.want) {
			t.Errorf("%s: warnings = %q, want %q", c.name, got, c.want)
		}
	}
}
