package static

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// frontController is what the test site answers where Serve says that a request is not its own.
const frontController = "front controller"

// A site is a public folder on disk and a server on loopback that serves it.
type site struct {
	t     testing.TB
	dir   string // holds public and what lies around it
	files *Files
	url   string // over HTTP/1.1 and TCP
	tls   string // over HTTP/2 and TLS
	http  *http.Client
	errs  chan error // of answers that were aborted
}

func newSite(t testing.TB, content map[string]string, targets ...string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), errs: make(chan error, 16)}
	s.mkdir("public")
	s.fill(content)
	var err error
	s.files, err = New(Config{Root: filepath.Join(s.dir, "public"), SymlinkTargets: targets})
	if err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(s)
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(s)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	s.url, s.tls, s.http = plain.URL, secure.URL, secure.Client()
	s.http.Transport.(*http.Transport).DisableCompression = true
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	release, err := s.files.Release()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	outcome, err := s.files.Serve(w, r, release)
	switch {
	case outcome == Aborted:
		s.errs <- err
		panic(http.ErrAbortHandler)
	case outcome == NotMine && err == nil:
		io.WriteString(w, frontController)
	case outcome == NotMine:
		http.Error(w, err.Error(), statusOf(err))
	}
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrBadPath):
		return http.StatusBadRequest
	case errors.Is(err, ErrRefused):
		return http.StatusForbidden
	case errors.Is(err, ErrMissing):
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) mkdir(name string) {
	s.t.Helper()
	if err := os.MkdirAll(s.path(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) write(name, content string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(name))
	if err := os.WriteFile(s.path(name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) fill(content map[string]string) {
	s.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		s.write(name, content[name])
	}
}

func (s *site) link(target, name string) {
	s.t.Helper()
	if err := os.Symlink(target, s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) stamp(name string, at time.Time) {
	s.t.Helper()
	if err := os.Chtimes(s.path(name), at, at); err != nil {
		s.t.Fatal(err)
	}
}

// An answer is a response that was read to its end.
type answer struct {
	*http.Response
	body string
}

// get sends a request with pairs of header names and values.
func (s *site) get(path string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, header...)
}

func (s *site) do(method, path string, header ...string) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp, string(body)}
}

func (s *site) wantStatus(path string, want int) {
	s.t.Helper()
	if got := s.get(path); got.StatusCode != want || got.body == frontController {
		s.t.Errorf("GET %s = %d %.60q, want %d", path, got.StatusCode, got.body, want)
	}
}

func (s *site) wantBody(path, want string) {
	s.t.Helper()
	if got := s.get(path); got.StatusCode != http.StatusOK || got.body != want {
		s.t.Errorf("GET %s = %d %.60q, want 200 %.60q", path, got.StatusCode, got.body, want)
	}
}

func (s *site) wantFrontController(path string) {
	s.t.Helper()
	s.wantBody(path, frontController)
}

func (a answer) want(t *testing.T, status int, body string) {
	t.Helper()
	if a.StatusCode != status || a.body != body {
		t.Errorf("%s %s = %d %.60q, want %d %.60q", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.body, status, body)
	}
}

func (a answer) wantHeader(t *testing.T, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); got != want {
		t.Errorf("%s %s: %s = %q, want %q", a.Request.Method, a.Request.URL.Path, name, got, want)
	}
}
