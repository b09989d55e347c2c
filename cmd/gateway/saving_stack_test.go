//go:build stack

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// saving is how a program puts another configuration in place.
type saving struct {
	// links, which may be nil, lays the folder of the gateway out and returns where its configuration is then.
	links func(t *testing.T, dir, text string) string
	save  func(t *testing.T, p *process, text string)
}

// TestEveryWayOfSavingIsSeen: hardly any of them writes to the file that was read before.
func TestEveryWayOfSavingIsSeen(t *testing.T) {
	for name, way := range map[string]saving{
		"in place": {nil, func(t *testing.T, p *process, text string) {
			try(t, os.WriteFile(p.config, []byte(text), 0o644))
		}},
		"vim": {nil, func(t *testing.T, p *process, text string) {
			try(t, os.Rename(p.config, p.config+"~"))
			try(t, os.WriteFile(p.config, []byte(text), 0o644))
			try(t, os.Remove(p.config+"~"))
		}},
		"ln -sfn": {func(t *testing.T, dir, text string) string {
			release(t, dir, "v1", text)
			return filepath.Join(dir, "current", "gateway.toml")
		}, func(t *testing.T, p *process, text string) {
			release(t, p.dir, "v2", text)
		}},
		"kubernetes": {func(t *testing.T, dir, text string) string {
			release(t, dir, "..1", text)
			config := filepath.Join(dir, "mounted.toml")
			try(t, os.Symlink("current/gateway.toml", config))
			return config
		}, func(t *testing.T, p *process, text string) {
			release(t, p.dir, "..2", text)
			try(t, os.RemoveAll(filepath.Join(p.dir, "..1")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := startGateway(t, edition(t, 0))
			b, err := os.ReadFile(p.config)
			try(t, err)
			text := string(b)
			if way.links != nil {
				p.stop(t)
				p.config = way.links(t, p.dir, text)
				try(t, p.start())
			}
			way.save(t, p, text+strings.Replace(site(t), "localhost", "saved.test", 1))
			eventually(t, "the new site", func() bool { return len(p.status(t).Sites) == 2 })
			eventually(t, "a line about it", func() bool { return p.reloads(t, "file") == 1 })
			visit(t, p).prompt()
		})
	}
}

// release makes a folder with a configuration, and turns the link called current to it.
func release(t *testing.T, dir, name, text string) {
	t.Helper()
	try(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	try(t, os.WriteFile(filepath.Join(dir, name, "gateway.toml"), []byte(text), 0o644))
	if out, err := exec.Command("ln", "-sfn", name, filepath.Join(dir, "current")).CombinedOutput(); err != nil {
		t.Fatalf("ln: %v: %s", err, out)
	}
}

// try ends the test at what must not fail.
func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
