//go:build stack

package main_test

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

// asked is what the application says of a request: the parts of its $_SERVER, and what Laravel makes of them.
type asked struct {
	Server map[string]any `json:"server"`
	IP     string         `json:"ip"`
	Scheme string         `json:"scheme"`
	Port   any            `json:"port"`
	URL    string         `json:"url"`
	Secure bool           `json:"secure"`
}

// with sends a request with header lines.
func (v *visitor) with(path string, lines ...string) outcome {
	v.t.Helper()
	r, err := http.NewRequest("GET", "http://localhost"+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return v.send(r)
}

// stay keeps a visitor from following redirects.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ask returns what the application says of a request with header lines.
func (v *visitor) ask(path string, lines ...string) asked {
	v.t.Helper()
	o := v.with(path, lines...)
	var a asked
	if err := json.Unmarshal([]byte(o.body), &a); err != nil || o.status != 200 {
		v.t.Fatalf("%s: %s, %v in %q", path, o, err, o.body)
	}
	return a
}

// behindProxies are a gateway that trusts this machine in front of each kind of backend.
func behindProxies(t *testing.T, keys string) map[string]*process {
	t.Helper()
	start := func(upstream string) *process { return startGateway(t, keys+"\n"+site(t)+upstream) }
	return map[string]*process{
		"fpm":      start(fastcgiUpstream("app", fpmPool())),
		"resident": start(httpUpstream("app", resident())),
	}
}

var proxied = []string{"X-Forwarded-For: 6.6.6.6, 203.0.113.9, 127.0.0.8", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example"}

func TestLaravelSeesTheClientBehindProxies(t *testing.T) {
	for name, p := range behindProxies(t, `trusted_proxies = ["loopback"]`) {
		t.Run(name, func(t *testing.T) {
			v := visit(t, p)
			echo := v.ask("/api/echo", proxied...)
			if echo.IP != "203.0.113.9" || !echo.Secure || echo.Scheme != "https" || echo.URL != "https://localhost/api/echo" {
				t.Errorf("Laravel sees %+v", echo)
			}
			server := v.ask("/api/server", proxied...).Server
			if name == "fpm" {
				wantServer(t, server, map[string]any{"REMOTE_ADDR": "203.0.113.9", "HTTPS": "on", "REQUEST_SCHEME": "https",
					"SERVER_PORT": "443", "REMOTE_PORT": nil, "HTTP_X_FORWARDED_FOR": nil, "HTTP_X_FORWARDED_PROTO": nil, "HTTP_X_FORWARDED_HOST": nil})
				return
			}
			wantServer(t, server, map[string]any{"HTTP_X_FORWARDED_FOR": "203.0.113.9", "HTTP_X_FORWARDED_PROTO": "https",
				"HTTP_X_FORWARDED_HOST": "localhost", "HTTP_X_FORWARDED_PORT": "443", "HTTP_REMOTE_ADDR": "203.0.113.9", "HTTP_SCHEME": "https"})
		})
		if e := p.access(t, "/api/echo", 1)[0]; e.Client != "203.0.113.9" {
			t.Errorf("%s: client in the log = %q", name, e.Client)
		}
	}
}

func TestLaravelSeesNoClaimsOfOthers(t *testing.T) {
	for name, p := range behindProxies(t, `trusted_proxies = ["192.0.2.0/24"]`) {
		echo := visit(t, p).ask("/api/echo", append([]string{"Forwarded: for=6.6.6.6;proto=https", "X-Real-IP: 6.6.6.6"}, proxied...)...)
		if echo.IP != "127.0.0.1" || echo.Secure || echo.URL != "http://localhost/api/echo" {
			t.Errorf("%s: Laravel sees %+v", name, echo)
		}
	}
}

func TestLaravelSeesTheClientOfTheProxyProtocol(t *testing.T) {
	pool := fpmPool()
	// The key names an address that is chosen only when the gateway starts.
	p := startGateway(t, site(t)+fastcgiUpstream("app", pool))
	p.write(t, "trusted_proxies = [\"127.0.0.1\"]\nproxy_protocol = [\"http://"+p.addr+"\"]\n"+site(t)+fastcgiUpstream("app", pool))
	eventually(t, "the new configuration", func() bool { return p.reloads(t, "file") > 0 })
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	source, destination := "\xcb\x00\x71\x09", "\x7f\x00\x00\x01"
	header := "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + source + destination + "\x30\x39\x1f\x90"
	server := jsonOver(t, conn, header+"GET /api/server HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").Server
	wantServer(t, server, map[string]any{"REMOTE_ADDR": "203.0.113.9", "REMOTE_PORT": "12345", "SERVER_PORT": "8080", "SERVER_ADDR": "127.0.0.1"})
}

func wantServer(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %v, want %v", name, got[name], value)
		}
	}
}

// jsonOver sends bytes over a connection and reads what the application says.
func jsonOver(t *testing.T, conn net.Conn, bytes string) asked {
	t.Helper()
	l := &link{t: t, conn: conn, in: bufio.NewReader(conn)}
	l.send(bytes)
	var got answer
	got.read(l.in, false)
	var a asked
	if err := json.Unmarshal(got.body, &a); err != nil || got.status != 200 {
		t.Fatalf("%s: %v in %q", got.line, err, got.body)
	}
	return a
}
