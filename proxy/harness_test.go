package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gateway/conf"
	"gateway/fastcgi/fcgitest"
)

// fixture is a gateway on a loopback port over a public folder of its own.
type fixture struct {
	*Gateway
	t       testing.TB
	dir     string
	public  string
	addr    string
	logFile string
}

// serve starts a gateway. In text, @ADDR@, @PUBLIC@ and @DIR@ stand for what the fixture chose; listen,
// storage and log are set before it.
func serve(t testing.TB, text string) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{t: t, dir: dir, public: filepath.Join(dir, "public"), addr: freeAddr(t), logFile: filepath.Join(dir, "access.log")}
	write(t, filepath.Join(f.public, "index.php"), "<?php")
	g, err := New(f.load(text))
	if err != nil {
		t.Fatal(err)
	}
	f.Gateway = g
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		g.Shutdown(ctx)
	})
	return f
}

// load makes a configuration of text, as serve does.
func (f *fixture) load(text string) *conf.Config {
	f.t.Helper()
	head := "listen = [\"http://@ADDR@\"]\nstorage = \"@DIR@/storage\"\nlog = { output = \"@DIR@/access.log\" }\n"
	if strings.Contains(text, "listen =") {
		head = head[strings.Index(head, "\n")+1:]
	}
	text = strings.NewReplacer("@ADDR@", f.addr, "@PUBLIC@", f.public, "@DIR@", f.dir).Replace(head + text)
	path := filepath.Join(f.dir, "gateway.toml")
	write(f.t, path, text)
	cfg, err := conf.Load(path)
	if err != nil {
		f.t.Fatalf("%v\n%s", err, text)
	}
	return cfg
}

// fpmSite is a site whose application is responder.
func fpmSite(responder *fcgitest.Responder, more string) string {
	return fmt.Sprintf(`
[[site]]
hosts = ["*"]
root = "@PUBLIC@"
app = "fpm"
[upstream.fpm]
fastcgi = ["%s:%s"]
%s
`, responder.Listener.Addr().Network(), responder.Listener.Addr(), more)
}

// octaneSite is a site whose application is at addr.
func octaneSite(addr, more string) string {
	return fmt.Sprintf(`
[[site]]
hosts = ["*"]
root = "@PUBLIC@"
app = "octane"
[upstream.octane]
http = ["%s"]
%s
`, addr, more)
}

func (f *fixture) url(path string) string { return "http://" + f.addr + path }

// raw sends bytes on a connection of their own and returns all that comes back.
func (f *fixture) raw(request string) string {
	f.t.Helper()
	conn := f.dial()
	if _, err := io.WriteString(conn, request); err != nil {
		f.t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // a reset after the answer is an end as well
	return string(answer)
}

func (f *fixture) dial() net.Conn {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// get asks on a connection of its own and returns the answer with its body read.
func (f *fixture) get(path string) (*http.Response, string) {
	f.t.Helper()
	r, err := http.NewRequest("GET", f.url(path), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.do(r)
}

func (f *fixture) do(r *http.Request) (*http.Response, string) {
	f.t.Helper()
	r.Close = true
	resp, err := noRedirect.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(body)
}

var noRedirect = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// eventually waits until done says so.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); !done(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within 10 s", what)
		}
	}
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// accessLog returns the access lines written so far.
func (f *fixture) accessLog() string {
	f.t.Helper()
	text, err := os.ReadFile(f.logFile)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// scrape returns what handler answers to GET.
func scrape(handler http.Handler) string {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
