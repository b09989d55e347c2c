package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says which package may import which of ours. Redraw it in the commit that moves a wall.
var arrows = map[string][]string{
	"conf":                 {},
	"fastcgi":              {},
	"fastcgi/fcgitest":     {},
	"upstream/spool":       {},
	"upstream":             {"upstream/spool"},
	"proxy/static":         {},
	"proxy/identity":       {},
	"proxy/limit":          {},
	"proxy/http1":          {},
	"proxy/xconnect":       {},
	"proxy/observe":        {},
	"proxy/certs":          {"proxy/observe"},
	"proxy/certs/trust":    {},
	"proxy/admin":          {"proxy/observe"},
	"proxy/bench/stat":     {},
	"proxy/bench/load":     {},
	"proxy/bench/meter":    {"proxy/bench/stat"},
	"proxy/bench/workload": {"proxy/bench/load"},
	"proxy/bench":          {"proxy/bench/load", "proxy/bench/stat", "proxy/bench/workload"},
	"proxy/bench/compare":  {"proxy/bench/stat"},
	"proxy/bench/lint":     {"proxy/bench", "proxy/bench/stat"},
	"proxy/bench/report":   {"proxy/bench", "proxy/bench/load", "proxy/bench/stat"},
	"proxy": {
		"conf", "fastcgi", "upstream", "upstream/spool", "proxy/static", "proxy/http1", "proxy/identity", "proxy/limit",
		"proxy/observe", "proxy/certs", "proxy/admin", "proxy/xconnect", "proxy/bench", "proxy/bench/load",
		"proxy/bench/meter",
	},
	"cmd/gateway": {
		"conf", "proxy", "proxy/admin", "proxy/bench", "proxy/bench/lint", "proxy/bench/load", "proxy/bench/meter",
		"proxy/bench/report", "proxy/bench/workload",
		"proxy/certs/trust", "proxy/observe",
	},
}

func TestImportsFollowTheTable(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && name != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(relative)
		seen[from] = true
		for _, to := range imports(t, name) {
			if !slices.Contains(arrows[from], to) {
				t.Errorf("%s imports gateway/%s, which is not in the table", path.Join(from, filepath.Base(name)), to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range seen {
		if arrows[pkg] == nil {
			t.Errorf("%s is not in the table", pkg)
		}
	}
	for pkg := range arrows {
		if !seen[pkg] {
			t.Errorf("%s is in the table and not there", pkg)
		}
	}
}

// imports returns the packages of ours that a file imports, without the module's name.
func imports(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(imported, "gateway/"); ok {
			ours = append(ours, rest)
		}
	}
	return ours
}
