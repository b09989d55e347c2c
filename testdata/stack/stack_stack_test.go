//go:build stack

package stack

import (
	"net/http"
	"os"
	"testing"
)

// What all tests of this package share; FPM and Laravel take too long to start for each of them.
var (
	app         *Application
	pool        *Pool
	resident    *Backend
	frankenphp  *Backend
	nginx       *NginxServer // in front of pool and resident
	nginxFranks *NginxServer // in front of frankenphp, and of pool with room for long headers
)

func TestMain(m *testing.M) {
	os.Exit(Run(func(t T) int {
		app = App(t)
		pool = FPM(t, FPMConfig{})
		resident = Resident(t, 2)
		frankenphp = FrankenPHP(t)
		nginx = Nginx(t, NginxConfig{FPM: pool.Address(), Octane: resident.Addr, Keep: 1})
		nginxFranks = Nginx(t, NginxConfig{FPM: pool.Address(), Octane: frankenphp.Addr, HeaderKiB: 32})
		return m.Run()
	}))
}

// TestRoutes asks every way to the application for every route; all must answer alike.
func TestRoutes(t *testing.T) {
	for _, way := range []struct {
		name, url string
	}{
		{"resident", resident.URL},
		{"frankenphp", frankenphp.URL},
		{"nginx to FPM", nginx.LaravelURL},
		{"nginx to FPM, kept", nginx.LaravelKeptURL},
		{"nginx to FPM, long headers", nginxFranks.LaravelURL},
		{"nginx to resident", nginx.OctaneURL},
		{"nginx to FrankenPHP", nginxFranks.OctaneURL},
	} {
		t.Run(way.name, func(t *testing.T) {
			a := newAsker(t, way.url)
			a.answers()
			a.bodies()
			a.forms()
			a.streams()
			a.failures()
		})
	}
}

func TestTCPPool(t *testing.T) {
	tcp := FPM(t, FPMConfig{TCP: true, Children: 2})
	n := Nginx(t, NginxConfig{FPM: tcp.Address()})
	newAsker(t, n.LaravelURL).body("GET", "/api/ping", `{"pong":true}`)
}

func TestStaticFilesAndAccelRedirect(t *testing.T) {
	newAsker(t, nginx.LaravelURL).status("GET", "/.env", http.StatusForbidden)
	for _, url := range []string{nginx.LaravelURL, nginx.OctaneURL} {
		a := newAsker(t, url)
		a.body("GET", "/hello.txt", "hello, static\n")
		if got := a.do("GET", "/download/accel", nil, nil).body; len(got) != 256<<10 {
			t.Errorf("X-Accel-Redirect: %d bytes, want %d", len(got), 256<<10)
		}
	}
}

func TestLongHeaders(t *testing.T) {
	newAsker(t, nginxFranks.LaravelURL).longLink()
	newAsker(t, resident.URL).longLink()
	newAsker(t, frankenphp.URL).longLink()
	newAsker(t, nginx.LaravelURL).status("GET", "/api/link/20", http.StatusBadGateway)
}

// FrankenPHP is not among them: Go's HTTP server, on which it stands, guesses the type of an answer without one.
func TestNoContentType(t *testing.T) {
	for _, url := range []string{resident.URL, nginx.LaravelURL, nginx.OctaneURL} {
		a := newAsker(t, url)
		a.equal("Content-Type", a.status("GET", "/api/untyped", 200).Header["Content-Type"], []string{})
	}
}

func TestResidentStaysInMemory(t *testing.T) {
	var fpm, kept struct{ Handled int }
	newAsker(t, nginx.LaravelURL).json("GET", "/api/state", &fpm)
	a := newAsker(t, resident.URL)
	for range 3 {
		a.json("GET", "/api/state", &kept)
	}
	if fpm.Handled != 0 || kept.Handled < 2 {
		t.Errorf("handled before: FPM %d, want 0; resident %d, want 2 or more", fpm.Handled, kept.Handled)
	}
}
