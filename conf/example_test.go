package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const examplePath = "../gateway.example.toml"

// ofTheUser are tables whose keys the user chooses.
var ofTheUser = map[string]bool{"site.params": true, "site.headers": true, "site.auth.users": true}

// optional is a key that the example shows but does not set.
var optional = regexp.MustCompile(`(?m)^#([a-z_]+ = )`)

func TestExampleIsAValidFile(t *testing.T) {
	if _, err := Load(examplePath); err != nil {
		t.Error(err)
	}
}

// parsedExample returns the tree of the example with its optional keys set.
func parsedExample(t *testing.T) *node {
	t.Helper()
	text, err := os.ReadFile(examplePath)
	must(t, err)
	var f faults
	root, whole := parse(&source{name: "example", dir: "/", data: slices.Clip(optional.ReplaceAll(text, []byte("$1")))}, &f)
	if !whole || len(f.list) > 0 {
		t.Fatalf("example: %v", f.list)
	}
	return root
}

// written calls visit for each key in the tree with its path, in the manner of walk.
func written(n *node, path string, visit func(path string, n *node)) {
	if n.kind == arrayKind {
		for _, item := range n.items {
			written(item, path, visit)
		}
	}
	for _, k := range n.keys {
		full := join(path, k.name)
		free := path == "site.split" && !slices.Contains(names(reflect.TypeFor[Split]()), k.name) ||
			path == "tls.dns" && !slices.Contains(names(reflect.TypeFor[DNS]()), k.name)
		if path == "upstream" || free {
			full = path + ".NAME"
		}
		visit(full, n.get(k.name))
		if !ofTheUser[full] {
			written(n.get(k.name), full, visit)
		}
	}
}

func TestExampleHoldsEveryKeyAndNoOther(t *testing.T) {
	inExample, inSchema := map[string]bool{"upstream.NAME": true}, map[string]bool{"upstream.NAME": true}
	written(parsedExample(t), "", func(path string, _ *node) { inExample[path] = true })
	walk(reflect.TypeFor[Config](), "", func(path string, f field) { inSchema[path] = true })
	for path := range inSchema {
		if !inExample[path] {
			t.Errorf("the example lacks %s", path)
		}
	}
	for path := range inExample {
		if !inSchema[path] {
			t.Errorf("the example has %s, which is no key", path)
		}
	}
	if len(inSchema) < 60 {
		t.Errorf("only %d keys walked", len(inSchema))
	}
}

// withDefaults are the keys that may be left out, "" as their value or not.
func withDefaults() map[string]bool {
	all := map[string]bool{}
	walk(reflect.TypeFor[Config](), "", func(path string, f field) {
		switch last := path[strings.LastIndexByte(path, '.')+1:]; {
		case f.required, last == "NAME", last == "fastcgi", last == "http":
		default:
			all[path] = true
		}
	})
	return all
}

// TestExampleShowsTheDefaults takes out every line with a key that has a default. What is left must be read as the
// same configuration, so a default that is written wrong shows, a computed one too.
func TestExampleShowsTheDefaults(t *testing.T) {
	root := parsedExample(t)
	lines := strings.Split(string(optional.ReplaceAll(root.src.data, []byte("$1"))), "\n")
	defaults, removed := withDefaults(), 0
	written(root, "", func(path string, n *node) {
		if defaults[path] && n.kind != tableKind && !(n.kind == arrayKind && !n.closed) || ofTheUser[path] {
			line, _ := n.src.place(n.at)
			lines[line-1] = ""
			removed++
		}
	})
	if removed < 50 {
		t.Errorf("only %d lines removed", removed)
	}
	full := write(t, map[string]string{"gateway.toml": string(root.src.data), "sites/a.toml": ""})
	less := write(t, map[string]string{"gateway.toml": strings.Join(lines, "\n"), "sites/a.toml": ""})
	want, err := Load(filepath.Join(less, "gateway.toml"))
	must(t, err)
	got, err := Load(filepath.Join(full, "gateway.toml"))
	must(t, err)
	got.TLS.Fallback = nil // an example: by default there is none
	got.Files, got.Digest, want.Files, want.Digest = nil, "", nil, ""
	differences(t, "", reflect.ValueOf(*got), reflect.ValueOf(*want))
}

// differences reports each field in which the example and the defaults differ. Nothing and an empty list are the same.
func differences(t *testing.T, path string, got, want reflect.Value) {
	t.Helper()
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			differences(t, path+"."+got.Type().Field(i).Name, got.Field(i), want.Field(i))
		}
	case reflect.Map:
		for _, name := range got.MapKeys() {
			differences(t, path+"."+name.String(), got.MapIndex(name), want.MapIndex(name))
		}
	case reflect.Slice:
		if got.Len() != want.Len() {
			t.Errorf("%s: the example has %v, the default is %v", path, got, want)
			return
		}
		for i := range got.Len() {
			differences(t, fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i))
		}
	default:
		if !got.Equal(want) {
			t.Errorf("%s: the example has %v, the default is %v", path, got, want)
		}
	}
}

func TestEveryFormOfTheSchemaIsKnown(t *testing.T) {
	walk(reflect.TypeFor[Config](), "", func(path string, f field) {
		if _, known := forms[f.form]; !known {
			t.Errorf("%s has the form %q, which is none", path, f.form)
		}
	})
}

func TestImageConfigurationIsValid(t *testing.T) {
	t.Setenv("APP_PUBLIC", "/srv/app/public")
	t.Setenv("FPM", "php:9000")
	cfg, err := Load("docker.toml")
	must(t, err)
	if cfg.Listen[0].Addr != ":8080" || cfg.Upstreams["fpm"].FastCGI[0] != (Endpoint{"tcp", "php:9000"}) {
		t.Errorf("listen %v, fpm %v", cfg.Listen, cfg.Upstreams["fpm"].FastCGI)
	}
}
