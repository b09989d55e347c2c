package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gateway/conf"
	"gateway/fastcgi/fcgitest"
	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

// loadConfig is a configuration of text with a public folder, which nobody serves.
func loadConfig(t *testing.T, text string) *conf.Config {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), addr: "127.0.0.1:1"}
	f.public = f.dir + "/public"
	write(t, f.public+"/index.php", "<?php")
	write(t, f.public+"/app.css", "body{}")
	return f.load(text)
}

func openArms(t *testing.T, cfg *conf.Config, want ArmsConfig) *Arms {
	t.Helper()
	a, err := OpenArms(cfg, want)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func ask(t *testing.T, arm bench.Arm, r *load.Request) load.Answer {
	t.Helper()
	a := load.Answer{KeepBody: true}
	if err := arm.Load.Send(context.Background(), r, &a); err != nil {
		t.Fatalf("%s: %v", arm.Name, err)
	}
	return a
}

const armsSite = `
[[site]]
hosts = ["shop.example", "*.shop.example"]
root = "@PUBLIC@"
app = "fpm"
params = { APP_ENV = "bench" }
[site.split]
octane = 0
[upstream.fpm]
fastcgi = ["unix:%s"]
max_in_flight = 3
[upstream.octane]
http = ["%s"]
`

// An arm asks as production does: the same variables for PHP, the same headers for Octane, and not what a client forges.
func TestArmsAskAsProductionDoes(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.ReadParams(), fcgitest.ReadStdin(), fcgitest.Reply(200, "fpm"))
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Host, r.RequestURI, r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-For"], r.Header["Cookie"])
	}))
	defer octane.Close()
	cfg := loadConfig(t, `listen = ["https://:8443", "http://:8080"]`+fmt.Sprintf(armsSite, responder.Addr(), octane.Listener.Addr()))
	a := openArms(t, cfg, ArmsConfig{})
	if len(a.All) != 2 || a.Host != "shop.example" || a.All[0].Kind != "fastcgi" || a.All[0].Workers != 3 || a.All[1].Kind != "http" {
		t.Fatalf("arms %+v of %s", a.All, a.Host)
	}
	if why := a.All[1].Fingerprint["resources"]; !strings.Contains(why, "this process") || a.All[1].Look != nil {
		t.Errorf("resources of a backend within the generator: %q", why)
	}
	header := http.Header{"Cookie": {"a=b"}, "X-Forwarded-For": {"6.6.6.6"}, "Proxy": {"evil"}}
	r := &load.Request{Method: "GET", Target: "/api/users?q=%2Fa", Host: "shop.example", Header: header}
	if got := ask(t, a.All[0], r); string(got.Body) != "fpm" || got.Status != 200 || got.Size != 3 {
		t.Errorf("fpm answers %+v", got)
	}
	asked := responder.Requests()[0]
	for name, want := range map[string]string{
		"REQUEST_URI": "/api/users?q=%2Fa", "QUERY_STRING": "q=%2Fa", "SCRIPT_NAME": "/index.php", "HTTPS": "on", "APP_ENV": "bench",
		"SERVER_NAME": "shop.example", "HTTP_HOST": "shop.example", "HTTP_COOKIE": "a=b", "REMOTE_ADDR": "127.0.0.1", "SERVER_PORT": "8443",
		"HTTP_PROXY": "", "HTTP_X_FORWARDED_FOR": "",
	} {
		if got := asked.Param(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for n := range 3 {
		got := ask(t, a.All[1], r)
		if want := "shop.example/api/users?q=%2Fa[https] [127.0.0.1] [a=b]"; string(got.Body) != want {
			t.Errorf("octane was asked %s, want %s", got.Body, want)
		}
		if got.Reused != (n > 0) || (got.Conn != 0) != (n > 0) || got.Wrote.IsZero() || got.End.Before(got.FirstByte) {
			t.Errorf("request %d: %+v", n, got)
		}
	}
	if header.Get("X-Forwarded-For") != "6.6.6.6" || header.Get("Proxy") != "evil" {
		t.Errorf("the shared header was changed: %v", header)
	}
	if !a.HasHost("shop.example:443") || !a.HasHost("de.shop.example") || a.HasHost("other.example") {
		t.Error("hosts are not told apart")
	}
	if a.ReachesApp("GET", "/app.css") || a.ReachesApp("GET", "/.env") || !a.ReachesApp("GET", "/") || !a.ReachesApp("POST", "/app.css") {
		t.Error("what reaches the application is not what the site lets through")
	}
}

// Whoever opens arms within a longer life must find nothing of them afterwards.
func TestClosedArmsLeaveNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	secure := httpsServer(t)
	cfg := loadConfig(t, octaneSite(server.Listener.Addr().String(), ""))
	before := runtime.NumGoroutine()
	a, err := OpenArms(cfg, ArmsConfig{Names: []string{"octane", "plain=" + server.URL, "secure=" + secure.URL}})
	if err != nil {
		t.Fatal(err)
	}
	a.All[2].Load.(*load.TransportArm).Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
	for _, arm := range a.All {
		ask(t, arm, &load.Request{Method: "GET", Target: "/", Host: "x"})
	}
	a.Close()
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestArmsRetryNothingAndFollowNothing(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/login", http.StatusFound)
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	cfg := loadConfig(t, octaneSite(server.Listener.Addr().String(), ""))
	a := openArms(t, cfg, ArmsConfig{Names: []string{"octane", "plain=" + server.URL}})
	for _, arm := range a.All {
		if got := ask(t, arm, &load.Request{Method: "GET", Target: "/moved", Host: "x"}); got.Status != http.StatusFound {
			t.Errorf("%s: %d", arm.Name, got.Status)
		}
		var answer load.Answer
		if err := arm.Load.Send(context.Background(), &load.Request{Method: "GET", Target: "/cut", Host: "x"}, &answer); err == nil {
			t.Errorf("%s: a cut answer is no error", arm.Name)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if asked["/moved"] != 2 || asked["/cut"] != 2 || asked["/login"] != 0 {
		t.Errorf("asked %v", asked)
	}
}

// httpsServer answers with what it was asked.
func httpsServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Proto, " ", r.Method, " ", r.Host, r.RequestURI, r.Header["User-Agent"], r.Header["X-Gateway-Variant"], r.ContentLength)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestArmOverHTTPS(t *testing.T) {
	s := httpsServer(t)
	a := openArms(t, nil, ArmsConfig{Names: []string{s.URL}})
	if a.Host != s.Listener.Addr().String() || !a.HasHost("any.example") || a.All[0].Name != a.Host {
		t.Errorf("host %s, arms %+v", a.Host, a.All)
	}
	a.All[0].Load.(*load.TransportArm).Transport.(*http.Transport).TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
	got := ask(t, a.All[0], &load.Request{Method: "POST", Target: "/a%2Fb?c=%20", Host: "shop.example", Body: []byte("abc")})
	if want := "HTTP/1.1 POST shop.example/a%2Fb?c=%20[] [] 3"; string(got.Body) != want {
		t.Errorf("asked %s, want %s", got.Body, want)
	}
}

func TestArmThroughTheFront(t *testing.T) {
	s := httpsServer(t)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	cfg := loadConfig(t, `listen = ["https://:`+port+`"]`+fmt.Sprintf(armsSite, "/nowhere", "127.0.0.1:1"))
	a := openArms(t, cfg, ArmsConfig{Via: "tls"})
	for _, arm := range a.All {
		got := ask(t, arm, &load.Request{Method: "GET", Target: "/", Host: a.Host})
		if want := "HTTP/1.1 GET shop.example/[] [" + arm.Name + "] 0"; string(got.Body) != want {
			t.Errorf("asked %s, want %s", got.Body, want)
		}
	}
}

// staleServer closes each connection with the second request on it.
func staleServer(t *testing.T) *httptest.Server {
	t.Helper()
	seen := sync.Map{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.RemoteAddr, true); again {
			panic(http.ErrAbortHandler)
		}
	}))
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// net/http sends a request again by itself when a kept connection ends under it. That is a failure of the arm.
func TestRequestThatWasSentTwiceIsAFailure(t *testing.T) {
	s := staleServer(t)
	a := openArms(t, nil, ArmsConfig{Names: []string{s.URL}})
	a.All[0].Load.(*load.TransportArm).Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	r := &load.Request{Method: "GET", Target: "/", Host: "x"}
	ask(t, a.All[0], r)
	if err := a.All[0].Load.Send(context.Background(), r, new(load.Answer)); err == nil {
		t.Error("a request that was sent twice was taken for a good one")
	}
}

func TestArmsThatAreNone(t *testing.T) {
	cfg := loadConfig(t, fmt.Sprintf(armsSite, "/nowhere", "127.0.0.1:1"))
	for want, config := range map[string]ArmsConfig{
		`no upstream "fmp"; want fpm, octane, or a URL`: {Names: []string{"fmp"}},
		`no site "shop.test"; want shop.example`:        {Site: "shop.test"},
		"it has no https address":                       {Via: "tls"},
		"what is asked for is a route":                  {Names: []string{"http://x/api"}},
		"want such as https://shop.example":             {Names: []string{"ftp://x"}},
	} {
		if _, err := OpenArms(cfg, config); !errors.Is(err, errArm) && !errors.Is(err, errNoFront) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", config, err, want)
		}
	}
	if _, err := OpenArms(nil, ArmsConfig{Names: []string{"fpm"}}); !errors.Is(err, errArm) {
		t.Errorf("an upstream of no configuration: %v", err)
	}
	if _, err := OpenArms(nil, ArmsConfig{}); !errors.Is(err, errArm) {
		t.Errorf("no arms: %v", err)
	}
}
