package proxy

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gateway/fastcgi/fcgitest"
)

// Guessing would make HTML of what an application left without a type on purpose.
func TestAnswerWithoutATypeGetsNone(t *testing.T) {
	f := serve(t, fpmSite(fcgitest.New(t, fcgitest.Stdout("Status: 200 OK\r\n\r\n<html>"), fcgitest.End(0, 0)), ""))
	resp, body := f.get("/")
	if kinds, ok := resp.Header["Content-Type"]; ok || body != "<html>" {
		t.Errorf("Content-Type = %q with %q, want none", kinds, body)
	}
}

func TestFilesHaveTheSitesHeaders(t *testing.T) {
	f := serve(t, fpmSite(fcgitest.New(t, fcgitest.Stdout("X-Frame-Options: DENY\r\n\r\n"), fcgitest.End(0, 0)), ""))
	if err := os.WriteFile(filepath.Join(f.public, "a.txt"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/a.txt": "SAMEORIGIN nosniff", "/app": "DENY nosniff"} {
		resp, _ := f.get(path)
		got := strings.Join(append(resp.Header["X-Frame-Options"], resp.Header["X-Content-Type-Options"]...), " ")
		if got != want {
			t.Errorf("%s: X-Frame-Options and X-Content-Type-Options = %s, want %s", path, got, want)
		}
	}
}

// Octane knows no scripts: Laravel would look for a route of that name.
func TestFrontControllerIsTheRootOfOctane(t *testing.T) {
	targets := make(chan string, 1)
	octane := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { targets <- r.RequestURI }))
	defer octane.Close()
	f := serve(t, octaneSite(octane.Listener.Addr().String(), ""))
	for asked, want := range map[string]string{
		"/index.php": "/", "/index.php?a=%20b": "/?a=%20b", "/%69ndex.php": "/", "/index.php/x": "/index.php/x", "/x/index.php": "/x/index.php",
	} {
		f.get(asked)
		if got := <-targets; got != want {
			t.Errorf("%s: Octane was asked for %s, want %s", asked, got, want)
		}
	}
}

// The port that this machine listens on is another than the client's behind a mapping, such as that of a
// container, and Laravel builds its links with it.
func TestForwardedPortIsTheClients(t *testing.T) {
	ports := make(chan string, 1)
	octane := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ports <- r.Header.Get("X-Forwarded-Port") }))
	defer octane.Close()
	f := serve(t, octaneSite(octane.Listener.Addr().String(), ""))
	for host, want := range map[string]string{
		"shop.example": "80", "shop.example:8443": "8443", "[::1]": "80", "[::1]:81": "81", "shop.example:": "80",
	} {
		f.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if got := <-ports; got != want {
			t.Errorf("X-Forwarded-Port of %s = %s, want %s", host, got, want)
		}
	}
}

// net/http would answer it by itself, without a line in the log.
func TestOptionsOfTheServerIsABadTarget(t *testing.T) {
	f := serve(t, fpmSite(fcgitest.New(t), ""))
	if got := f.raw("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("answer = %.60q, want 400", got)
	}
}
