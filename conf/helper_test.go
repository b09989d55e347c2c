package conf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// short is the file that the documentation promises to be enough.
const short = `[[site]]
hosts = ["shop.example", "www.shop.example"]
root  = "/srv/shop/current/public"
app   = "fpm"

[upstream.fpm]
fastcgi = ["unix:/run/php/php8.2-fpm.sock"]
`

// write puts files, named relative to a new folder, and returns the folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// loadText loads a main file of that text, alone in its folder.
func loadText(t testing.TB, text string) (*Config, error) {
	t.Helper()
	return Load(filepath.Join(write(t, map[string]string{"gateway.toml": text}), "gateway.toml"))
}

// loaded loads a text that has no fault.
func loaded(t testing.TB, text string) *Config {
	t.Helper()
	cfg, err := loadText(t, text)
	must(t, err)
	return cfg
}

// faultsOf returns what is wrong with a load; it fails the test when nothing is.
func faultsOf(t testing.TB, err error) []*Error {
	t.Helper()
	var all *Errors
	if !errors.As(err, &all) || len(all.List) == 0 {
		t.Fatalf("error = %v, want an *Errors with something in it", err)
	}
	return all.List
}

// spot is a place in a text.
type spot struct{ line, col int }

// marked takes the marks « out of a text and returns where they stood.
func marked(text string) (string, []spot) {
	var spots []spot
	for {
		before, after, found := strings.Cut(text, "«")
		if !found {
			return text, spots
		}
		line := strings.Count(before, "\n") + 1
		col := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
		text, spots = before+after, append(spots, spot{line, col})
	}
}

// wantFaults loads a text with marks and compares: one fault at each mark, with that key and message.
func wantFaults(t *testing.T, text string, want ...string) {
	t.Helper()
	text, spots := marked(text)
	_, err := loadText(t, text)
	list := faultsOf(t, err)
	if len(list) != len(want) || len(spots) != len(want) {
		t.Fatalf("%d faults, want %d (%d marks):\n%v", len(list), len(want), len(spots), err)
	}
	for i, fault := range list {
		if got := (spot{fault.Line, fault.Col}); got != spots[i] {
			t.Errorf("place = %v, want %v: %s", got, spots[i], fault)
		}
		if got := fault.Key + ": " + fault.Msg; !strings.HasPrefix(got, want[i]) {
			t.Errorf("fault = %s\n       want %s", got, want[i])
		}
		if filepath.Base(fault.File) != "gateway.toml" {
			t.Errorf("file = %q", fault.File)
		}
	}
}
