package static

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzServe asks for any path in any form. Whatever the answer is, it holds nothing from outside the release
// and its targets, no dot file and no PHP source: in the site all of those say SECRET.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		"/css/app.css", "/storage/a/b.txt", "/storage/../.env", "/%2e%2e/.env", "//etc/passwd", "/etc/passwd", "/rootfs/etc/passwd", "/source.txt",
		"/storage/up.txt", "/storage/css/../../.env", "/evil/x.txt", "/index.PHP", "/index.php.gz", "/a\x00b", "/..\\.env", "/./.env", "/css/",
		"/absolute.css", "/storage/shell.php", "/storage/.env", "../.env", ".env", "/.well-known/../.env", "/env.txt", "/img/../config/app.txt",
		"/build/assets/x.js", "/%252e%252e/.env", "/rootfs/proc/self/environ", "/config/app.txt", "/circle.txt/x", strings.Repeat("/a", 3000),
	} {
		f.Add(seed, "br, gzip", "")
		f.Add(seed, "", "bytes=0-1,3-")
	}
	s := linkedSite(f)
	release := ""
	sites := map[string]*Files{}
	for name, opener := range openers {
		files, err := New(Config{Root: s.files.root, SymlinkTargets: s.files.targets})
		if err != nil {
			f.Fatal(err)
		}
		files.beneath = opener
		files.now = func() time.Time { return time.Now().Add(settled) } // so that files are kept
		if release, err = files.Release(); err != nil {
			f.Fatal(err)
		}
		sites[name] = files
	}
	f.Fuzz(func(t *testing.T, path, accept, ranges string) {
		paths := []string{path}
		if decoded, err := url.PathUnescape(path); err == nil {
			paths = append(paths, decoded)
		}
		for _, path := range paths {
			r := &http.Request{
				Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{"Accept-Encoding": {accept}, "Range": {ranges}},
			}
			for name, files := range sites {
				w := httptest.NewRecorder()
				outcome, err := files.Serve(w, r, release)
				body := w.Body.String()
				if strings.Contains(body, "SECRET") || strings.Contains(body, "<?php") || strings.Contains(body, "root:") {
					t.Errorf("%s: %q = %q", name, path, body)
				}
				if outcome == Aborted || outcome == NotMine && (body != "" || len(w.Header()) > 0) || outcome == Served && err != nil {
					t.Errorf("%s: %q = %v, %v with %d bytes", name, path, outcome, err, len(body))
				}
			}
		}
	})
}
