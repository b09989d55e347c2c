package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

func TestFPMGetsTheEnvironmentOfAWebServer(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	f := serve(t, `
[[site]]
hosts = ["*"]
root = "@PUBLIC@"
app = "fpm"
server_name = "shop.example"
params = { APP_ENV = "testing", HTTP_X_CUSTOM = "operator" }
[upstream.fpm]
fastcgi = ["unix:`+responder.Addr()+`"]
`)
	r, _ := http.NewRequest("GET", f.url("/a%20b//c?x=1&y=%2F"), nil)
	r.Host = "client.example:81"
	for name, value := range map[string]string{
		"X-Forwarded-For": "9.9.9.9", "Proxy": "http://evil", "X-Custom": "client", "Keep-Alive": "1", "X_Under": "1",
	} {
		r.Header[name] = []string{value}
	}
	if resp, body := f.do(r); resp.StatusCode != 200 || body != "hello" {
		t.Fatalf("status = %d, body %q", resp.StatusCode, body)
	}
	got := map[string]string{}
	for _, p := range responder.Requests()[0].Params {
		got[p.Name] = p.Value
	}
	host, port, _ := net.SplitHostPort(f.addr)
	for name, want := range map[string]string{
		"REQUEST_URI": "/a%20b//c?x=1&y=%2F", "QUERY_STRING": "x=1&y=%2F", "SCRIPT_NAME": "/index.php",
		"SCRIPT_FILENAME": f.public + "/index.php", "DOCUMENT_ROOT": f.public, "SERVER_NAME": "shop.example",
		"HTTP_HOST": "client.example:81", "REMOTE_ADDR": "127.0.0.1", "SERVER_ADDR": host, "SERVER_PORT": port,
		"REQUEST_SCHEME": "http", "REDIRECT_STATUS": "200", "APP_ENV": "testing", "HTTP_X_CUSTOM": "operator",
		"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.1",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"HTTPS", "PATH_INFO", "HTTP_PROXY", "HTTP_X_FORWARDED_FOR", "HTTP_KEEP_ALIVE", "HTTP_X_UNDER", "HTTP_CONTENT_LENGTH"} {
		if value, ok := got[name]; ok {
			t.Errorf("%s = %q, want it absent", name, value)
		}
	}
}

func TestOctaneIsToldWhoAsks(t *testing.T) {
	seen := make(chan *http.Request, 1)
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- r }))
	defer octane.Close()
	f := serve(t, octaneSite(octane.Listener.Addr().String(), ""))
	r, _ := http.NewRequest("GET", f.url("/a%2Fb//c?x"), nil)
	r.Host = "shop.example"
	r.Header.Set("X-Forwarded-For", "9.9.9.9")
	r.Header.Set("Remote-Addr", "9.9.9.9")
	r.Header["Remote_addr"] = []string{"9.9.9.9"}
	r.Header["User-Agent"] = []string{""}
	f.do(r)
	got := <-seen
	if got.RequestURI != "/a%2Fb//c?x" || got.Host != "shop.example" {
		t.Errorf("asked for %s at %s", got.RequestURI, got.Host)
	}
	for name, want := range map[string]string{
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example",
		"X-Forwarded-Port": "80", "Scheme": "http",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, got.Header.Get(name), want)
		}
	}
	for name, values := range got.Header {
		if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "Remote-Addr") && (len(values) != 1 || values[0] != "127.0.0.1") {
			t.Errorf("%s = %q", name, values)
		}
	}
	if _, ok := got.Header["User-Agent"]; ok {
		t.Errorf("User-Agent = %q, and the client sent none", got.Header.Get("User-Agent"))
	}
}

func TestTruncatedAnswerNeverLooksWhole(t *testing.T) {
	head := "Status: 200 OK\r\nContent-Type: text/plain\r\n\r\n"
	big := strings.Repeat("x", 100000)
	for name, script := range map[string][]fcgitest.Step{
		"cut after a burst":  {fcgitest.Stdout(head + big), fcgitest.Cut()},
		"cut after a little": {fcgitest.Stdout(head + "half"), fcgitest.Cut()},
		"cut in a record":    {fcgitest.Stdout(head + big), fcgitest.Raw([]byte{1, 6, 0, 1, 0, 200, 0, 0, 'x'}), fcgitest.Cut()},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, fpmSite(fcgitest.New(t, script...), ""))
			resp, err := http.Get(f.url("/"))
			if err != nil {
				return // cut before the head: as good
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err == nil && resp.StatusCode != http.StatusBadGateway {
				t.Errorf("status %d with %d bytes looks complete", resp.StatusCode, len(body))
			}
			eventually(t, "access line", func() bool { return strings.Contains(f.accessLog(), "END_REQUEST") })
		})
	}
}

func TestStderrIsInTheAccessLine(t *testing.T) {
	f := serve(t, fpmSite(fcgitest.New(t, fcgitest.Stderr("PHP Warning: first\n"), fcgitest.Reply(200, "ok")), ""))
	f.get("/?password=hunter2&page=3")
	eventually(t, "access line", func() bool { return strings.Contains(f.accessLog(), `"stderr":["PHP Warning: first"]`) })
	line := f.accessLog()
	for _, want := range []string{
		`"status":200`, `"upstream":"fpm"`, `"attempts":1`, `"site":"*"`, `"client":"127.0.0.1"`, `"request_id":"`, `"method":"GET"`,
		`"queue_ms":`, `"dial_ms":`, `"first_byte_ms":`, `"body_ms":`, `page=3`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Contains(line, "hunter2") {
		t.Errorf("a password is in the log: %s", line)
	}
}

func TestEarlyHintsReachTheClient(t *testing.T) {
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</app.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		io.WriteString(w, "done")
	}))
	defer octane.Close()
	f := serve(t, octaneSite(octane.Listener.Addr().String(), ""))
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 103 Early Hints\r\nLink: </app.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\n") {
		t.Errorf("answer = %q", answer)
	}
	if strings.Count(answer, "Link:") != 1 {
		t.Errorf("the hint is in the answer too: %q", answer)
	}
}

func TestUpgradeIsATunnel(t *testing.T) {
	f := serve(t, octaneSite(echoServer(t), "tunnel_idle = \"5s\""))
	conn := f.dial()
	// What comes with the head must not be lost.
	fmt.Fprint(conn, "GET /app HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\nearly")
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "websocket" {
		t.Fatalf("%v, %v", resp, err)
	}
	expect(t, reader, "early")
	if err := f.Reload(f.load(octaneSite("127.0.0.1:1", ""))); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "after the reload")
	expect(t, reader, "after the reload")
	if n := f.Status().Tunnels; n != 1 {
		t.Errorf("%d tunnels, want 1", n)
	}
	conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v; want the end, as the client ended", rest, err)
	}
	eventually(t, "tunnel gone", func() bool { return f.Status().Tunnels == 0 })
}

func TestSilentTunnelEnds(t *testing.T) {
	f := serve(t, octaneSite(echoServer(t), "tunnel_idle = \"1s\""))
	conn := f.dial()
	fmt.Fprint(conn, "GET /app HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	began := time.Now()
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 900*time.Millisecond || took > 8*time.Second {
		t.Errorf("ended after %v, want about 1 s", took)
	}
}

func expect(t *testing.T, reader io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v; want %q", got, err, want)
	}
}

// echoServer upgrades every connection and sends back what comes.
func echoServer(t *testing.T) (addr string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		io.Copy(conn, buffered)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestUsersOfAVariantThatIsDownGetTheApp(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "fpm"))
	f := serve(t, `
[[site]]
hosts = ["*"]
root = "@PUBLIC@"
app = "fpm"
split = { octane = 100 }
[upstream.fpm]
fastcgi = ["unix:`+responder.Addr()+`"]
[upstream.octane]
http = ["`+freeAddr(t)+`"]
`)
	body := strings.Repeat("x", 100_000)
	for i := range 4 {
		r, _ := http.NewRequest("POST", f.url("/order"), io.MultiReader(strings.NewReader(body))) // of unknown length
		r.Header.Set("X-Forwarded-For", "of the client")
		r.Header.Set("Te", "trailers")
		begun := time.Now()
		resp, page := f.do(r)
		if resp.StatusCode != 200 || page != "fpm" || time.Since(begun) > time.Second {
			t.Errorf("request %d: status = %d, body %q after %v; want the app, at once", i+1, resp.StatusCode, page, time.Since(begun))
		}
		got := responder.Requests()[i]
		if string(got.Stdin) != body {
			t.Errorf("request %d: %d bytes arrived", i+1, len(got.Stdin))
		}
		for _, p := range got.Params {
			// The variant's dialect is not the app's.
			if p.Name == "HTTP_X_FORWARDED_HOST" || p.Name == "HTTP_SCHEME" || p.Name == "HTTP_X_FORWARDED_FOR" && p.Value != "of the client" {
				t.Errorf("request %d: %s = %s", i+1, p.Name, p.Value)
			}
		}
		eventually(t, "its access line", func() bool { return strings.Count(f.accessLog(), "/order") == i+1 })
		lines := strings.Split(strings.TrimSpace(f.accessLog()), "\n")
		line := lines[len(lines)-1]
		for _, want := range []string{"variant cannot be reached", `"variant":"fpm"`, `"upstream":"fpm"`, `"attempts":1`, `"bytes_in":100000`} {
			if !strings.Contains(line, want) {
				t.Errorf("request %d: no %s in %s", i+1, want, line)
			}
		}
	}
	metrics := scrape(f.Metrics())
	for _, want := range []string{
		`gateway_requests_total{code="2xx",method="POST",site="*",variant="fpm"} 4`,
		`gateway_upstream_attempts_total{outcome="answered",upstream="fpm"} 4`,
		`gateway_backend_up{backend="` + f.Status().Upstreams[1].Backends[0].Addr + `",upstream="octane"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if strings.Contains(metrics, `outcome="retried"`) || strings.Contains(metrics, `variant="octane"`) {
		t.Error("the app is counted what was the variant's")
	}
}

// What the app refuses is not sent to it, and what was kept of it is freed.
func TestRequestThatTheAppRefusesIsNotHandedOver(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "fpm"))
	f := serve(t, `
[[site]]
hosts = ["*"]
root = "@PUBLIC@"
app = "fpm"
split = { octane = 100 }
[upstream.fpm]
fastcgi = ["unix:`+responder.Addr()+`"]
[upstream.octane]
http = ["`+freeAddr(t)+`"]
`)
	r, _ := http.NewRequest("POST", f.url("/"), strings.NewReader(strings.Repeat("x", 200_000)))
	r.Header["Authorization"] = []string{"one", "two"}
	if resp, _ := f.do(r); resp.StatusCode != 400 || len(responder.Requests()) != 0 {
		t.Errorf("status = %d, %d requests; want 400 and none", resp.StatusCode, len(responder.Requests()))
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "gateway-spool") {
			t.Errorf("%s is still open", to)
		}
	}
}
