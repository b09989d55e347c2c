package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// `caddy version` printed "unknown" for a Caddy from `go install`, and the page had no version of it.
func TestVersionOfAGoProgramIsThatOfItsBuild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := moduleVersion(self); !strings.HasSuffix(got, ", "+runtime.Version()) {
		t.Errorf("moduleVersion of this test = %q, want %s at its end", got, runtime.Version())
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "facts_test.go"} {
		if got := moduleVersion(path); got != "unknown" {
			t.Errorf("moduleVersion(%s) = %q, want unknown", path, got)
		}
	}
}

func TestVersionOfNginxNamesItsTLSLibrary(t *testing.T) {
	for text, want := range map[string]string{
		"nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22 25 Aug 2026\nTLS SNI support enabled":                      "1.22.1, OpenSSL 3.0.22",
		"nginx version: nginx/1.18.0\nbuilt with OpenSSL 1.1.1f  31 Mar 2020 (running with OpenSSL 1.1.1w  11 Sep 2023)\n": "1.18.0, OpenSSL 1.1.1w",
		"": "unknown, unknown",
	} {
		if got := nginxVersion(text); got != want {
			t.Errorf("nginxVersion(%q) = %q, want %q", text, got, want)
		}
	}
}
