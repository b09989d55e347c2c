package proxy

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gateway/proxy/observe"
	"gateway/proxy/static"
)

// A deploy between the look for a file and the start of the script would run the new release for a request that
// the old one had been asked about.
func TestRequestKeepsItsReleaseThroughADeploy(t *testing.T) {
	dir := t.TempDir()
	current := filepath.Join(dir, "current")
	for _, release := range []string{"old", "new"} {
		write(t, filepath.Join(dir, release, "index.php"), "<?php")
	}
	deploy := func(release string) {
		t.Helper()
		next := filepath.Join(dir, "next")
		if err := os.Symlink(release, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, current); err != nil {
			t.Fatal(err)
		}
	}
	deploy("old")
	files, err := static.New(static.Config{Root: current})
	if err != nil {
		t.Fatal(err)
	}
	observer, err := observe.New(observe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		deploy("new")
		got = append(got, observe.FromContext(r.Context()).Release)
	})
	handler := outermostFirst(app, observer.Wrap, serveFiles(files, nil))
	for range 2 {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/page", nil))
	}
	if want := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}; got[0] != want[0] || got[1] != want[1] {
		t.Errorf("releases = %v, want %v", got, want)
	}
}
