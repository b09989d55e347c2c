package conf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad looks for panics, for faults without a place in the file, and for configurations that are
// taken although the promises of Config do not hold.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../gateway.example.toml")
	must(f, err)
	for _, seed := range []string{
		string(example), short, rest, "", "\xff", "\ufeff" + short, "a = [{}, [[]], 1]\r\n", "[[site]]\n[site.split]\nx = 1",
		"site = [{ hosts = ['''\n*'''] }]", "upstream.a.http = [\"unix:/a\"]", "x = \"${HOME}$$${\"", "[a.b]\n[a]\nb.c = 1",
		"a = {b.c = 1, b = 2", "[[a]]\n[a.b]\n[[a.b]]", "limits.grace = 0x1F", "storage = 1979-05-27T07:32:00Z", "a = [1,,2]",
		"[log]\n# \x00", "\"\" = 1", "x = inf", "[[site.split]]", "site = []", "include = [\"[\", \"\"]",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "gateway.toml")
		must(t, os.WriteFile(path, text, 0o600))
		cfg, err := Load(path)
		if err == nil {
			promised(t, cfg)
			return
		}
		var all *Errors
		if !errors.As(err, &all) || len(all.List) == 0 {
			t.Fatalf("error = %v", err)
		}
		lines := bytes.Count(text, []byte("\n")) + 1
		for _, fault := range all.List {
			if fault.File != path || fault.Line < 1 || fault.Line > lines || fault.Col < 1 || fault.Msg == "" {
				t.Errorf("fault without a place: %+v", fault)
			}
		}
	})
}

func promised(t *testing.T, cfg *Config) {
	if len(cfg.Listen) == 0 || len(cfg.Sites) == 0 || cfg.Storage == "" || cfg.Admin.Network == "" {
		t.Errorf("incomplete: %+v", cfg)
	}
	for _, s := range cfg.Sites {
		if _, known := cfg.Upstreams[s.App]; !known || len(s.Hosts) == 0 || !filepath.IsAbs(s.Root) {
			t.Errorf("incomplete: %+v", s)
		}
		sum := 0
		for _, w := range s.Split.Weights {
			sum += w.Share
		}
		if sum > 10000 {
			t.Errorf("weights = %v", s.Split.Weights)
		}
	}
	for name, up := range cfg.Upstreams {
		if up.Name != name || (len(up.FastCGI) > 0) == (len(up.HTTP) > 0) {
			t.Errorf("incomplete: %+v", up)
		}
	}
}
