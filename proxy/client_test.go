package proxy

import (
	"bufio"
	"crypto/tls"
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

	"gateway/fastcgi/fcgitest"
)

// trusting is a site behind a proxy on this machine.
func trusting(keys, site string) string {
	return "trusted_proxies = [\"loopback\"]\n" + keys + "\n" + site
}

// paramsOf sends r and returns what the script was given.
func (f *fixture) paramsOf(responder *fcgitest.Responder, request string) map[string]string {
	f.t.Helper()
	before := len(responder.Requests())
	answer := f.raw(request)
	seen := responder.Requests()
	if len(seen) != before+1 {
		f.t.Fatalf("the script was not asked: %q", answer)
	}
	got := map[string]string{}
	for _, p := range seen[before].Params {
		got[p.Name] = p.Value
	}
	return got
}

func wantParams(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %s = %q, want %q", what, name, got[name], value)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "HTTP_X_FORWARDED") || name == "HTTP_FORWARDED" {
			t.Errorf("%s: the script sees %s", what, name)
		}
	}
}

func TestTrustedProxySaysWhoAsks(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, trusting("", fpmSite(responder, "")))
	_, port, _ := net.SplitHostPort(f.addr)
	for _, c := range []struct {
		name, lines string
		want        map[string]string
	}{
		{"address and scheme", "X-Forwarded-For: 6.6.6.6, 1.2.3.4, 127.0.0.9\r\nX-Forwarded-Proto: https\r\n",
			map[string]string{"REMOTE_ADDR": "1.2.3.4", "REMOTE_PORT": "", "HTTPS": "on", "REQUEST_SCHEME": "https", "SERVER_PORT": "443"}},
		{"port", "X-Forwarded-For: 1.2.3.4:567\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Port: 8443\r\n",
			map[string]string{"REMOTE_ADDR": "1.2.3.4", "REMOTE_PORT": "567", "HTTPS": "on", "SERVER_PORT": "8443"}},
		{"host that nobody asked to believe", "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Host: evil.example\r\n",
			map[string]string{"HTTP_HOST": "x", "REMOTE_ADDR": "1.2.3.4", "SERVER_PORT": port, "HTTPS": ""}},
		{"the other header", "Forwarded: for=6.6.6.6;proto=https\r\n",
			map[string]string{"REMOTE_ADDR": "127.0.0.1", "HTTPS": "", "REQUEST_SCHEME": "http", "SERVER_PORT": port}},
	} {
		wantParams(t, c.name, f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\n"+c.lines+"\r\n"), c.want)
	}
	for _, want := range []string{`"client":"1.2.3.4"`, `"client":"127.0.0.1"`} {
		eventually(t, want+" in the log", func() bool { return strings.Contains(f.accessLog(), want) })
	}
}

func TestForwardedAndItsHostAreBelievedWhereThatIsSet(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, trusting("forwarded_header = \"Forwarded\"\nforwarded_host = true", fpmSite(responder, "")))
	wantParams(t, "Forwarded", f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 6.6.6.6\r\n"+
		"Forwarded: for=\"[2001:db8::1]:99\";proto=https;host=\"shop.example:8443\"\r\n\r\n"),
		map[string]string{"REMOTE_ADDR": "2001:db8::1", "REMOTE_PORT": "99", "HTTPS": "on", "SERVER_PORT": "8443", "HTTP_HOST": "shop.example:8443"})
}

func TestClaimsOfOthersVanish(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "trusted_proxies = [\"10.0.0.0/8\"]\n"+fpmSite(responder, ""))
	wantParams(t, "not trusted", f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n"+
		"X-Forwarded-Port: 1\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\n\r\n"),
		map[string]string{"REMOTE_ADDR": "127.0.0.1", "REQUEST_SCHEME": "http", "HTTPS": "", "HTTP_X_REAL_IP": ""})
}

func TestOctaneIsToldWhatTheProxySays(t *testing.T) {
	seen := make(chan http.Header, 1)
	octane := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	defer octane.Close()
	f := serve(t, trusting("", octaneSite(octane.Listener.Addr().String(), "")))
	f.raw("GET / HTTP/1.0\r\nHost: shop.example\r\nX-Forwarded-For: 6.6.6.6, 1.2.3.4\r\nX-Forwarded-Proto: https\r\n" +
		"X-Forwarded-Port: 8443\r\nX-Forwarded-Prefix: /x\r\n\r\n")
	h := <-seen
	for name, want := range map[string]string{
		"X-Forwarded-For": "1.2.3.4", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example",
		"X-Forwarded-Port": "8443", "X-Forwarded-Prefix": "", "Scheme": "https",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// A list that others keep, such as a CDN's, is read anew when it changes.
func TestListOfProxiesIsAFile(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	list := filepath.Join(t.TempDir(), "cdn.txt")
	write(t, list, "# nobody here\n192.0.2.0/24\n")
	text := "trusted_proxies = [\"file:" + list + "\"]\n" + fpmSite(responder, "")
	f := serve(t, text)
	ask := "GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n"
	wantParams(t, "before", f.paramsOf(responder, ask), map[string]string{"REMOTE_ADDR": "127.0.0.1"})
	if err := os.WriteFile(list, []byte("127.0.0.0/8 # we are\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(f.load(text)); err != nil {
		t.Fatal(err)
	}
	wantParams(t, "after", f.paramsOf(responder, ask), map[string]string{"REMOTE_ADDR": "1.2.3.4"})
}

// tlsPorts is a gateway for shop.test with both schemes, whose certificate is of its own authority.
func tlsPorts(t *testing.T, keys, site string) (f *fixture, httpsAddr string) {
	t.Helper()
	httpsAddr = freeAddr(t)
	return serve(t, fmt.Sprintf("listen = [\"http://@ADDR@\", \"https://%s\"]\n%s\ntls = { issuer = \"internal\" }\n", httpsAddr, keys)+site), httpsAddr
}

func TestProxyThatHasEndedTLSIsNotRedirected(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f, _ := tlsPorts(t, "trusted_proxies = [\"loopback\"]", strings.Replace(fpmSite(responder, ""), `"*"`, `"shop.test"`, 1))
	for proto, want := range map[string]string{"https": "HTTP/1.1 200", "http": "HTTP/1.1 308"} {
		got := f.raw("GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nX-Forwarded-Proto: " + proto + "\r\n\r\n")
		if !strings.HasPrefix(got, want) {
			t.Errorf("proto %s: %.80q, want %s", proto, got, want)
		}
	}
}

func TestProxyProtocolSaysWhoAsks(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, trusting("proxy_protocol = [\"http://@ADDR@\"]", fpmSite(responder, "")))
	ask := "GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n"
	wantParams(t, "v1", f.paramsOf(responder, "PROXY TCP4 1.2.3.4 5.6.7.8 567 8080\r\n"+ask),
		map[string]string{"REMOTE_ADDR": "1.2.3.4", "REMOTE_PORT": "567", "SERVER_PORT": "8080", "SERVER_ADDR": "5.6.7.8"})
	local := "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	wantParams(t, "v2 local", f.paramsOf(responder, local+ask), map[string]string{"REMOTE_ADDR": "6.6.6.6"})
	eventually(t, "the client in the log", func() bool { return strings.Contains(f.accessLog(), `"client":"1.2.3.4"`) })
	if answer := f.raw(ask); strings.Contains(answer, " 200 ") {
		t.Errorf("without a header: %q, want no answer of the application", answer)
	}
}

func TestProxyProtocolOfOthersIsGarbage(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "trusted_proxies = [\"10.0.0.0/8\"]\nproxy_protocol = [\"http://@ADDR@\"]\n"+fpmSite(responder, ""))
	if answer := f.raw("PROXY TCP4 1.2.3.4 5.6.7.8 567 8080\r\nGET / HTTP/1.0\r\nHost: x\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("answer = %q, want 400", answer)
	}
	wantParams(t, "without one", f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\n\r\n"), map[string]string{"REMOTE_ADDR": "127.0.0.1"})
}

func TestProxyProtocolStandsBeforeTLS(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	at := freeAddr(t)
	f := serve(t, fmt.Sprintf("listen = [\"https://%s\"]\nproxy_protocol = [\"https://%[1]s\"]\ntrusted_proxies = [\"loopback\"]\ntls = { issuer = \"internal\" }\n", at)+
		strings.Replace(fpmSite(responder, ""), `"*"`, `"shop.test"`, 1))
	f.addr = at
	conn := f.dial()
	io.WriteString(conn, "PROXY TCP4 1.2.3.4 5.6.7.8 567 8443\r\n")
	secure := tls.Client(conn, &tls.Config{ServerName: "shop.test", InsecureSkipVerify: true})
	fmt.Fprintf(secure, "GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(secure), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v, %v", resp, err)
	}
	got := map[string]string{}
	for _, p := range responder.Requests()[0].Params {
		got[p.Name] = p.Value
	}
	wantParams(t, "TLS", got, map[string]string{"REMOTE_ADDR": "1.2.3.4", "HTTPS": "on", "SERVER_PORT": "8443"})
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	f := serve(t, "limits = { connections_per_address = 2 }\n"+fpmSite(fcgitest.New(t, fcgitest.Reply(200, "ok")), ""))
	write(t, f.public+"/a.txt", "a\n")
	kept := []net.Conn{f.dial(), f.dial()}
	for _, conn := range kept {
		fmt.Fprintf(conn, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
	}
	if n, err := f.dial().Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the third connection: %d bytes, %v; want it closed", n, err)
	}
	if !strings.Contains(scrape(f.Metrics()), "gateway_connections_turned_away_total 1\n") {
		t.Error("the metrics do not tell of the third connection")
	}
	kept[0].Close()
	eventually(t, "a place for another", func() bool { return strings.Contains(f.raw("GET /a.txt HTTP/1.0\r\nHost: x\r\n\r\n"), " 200 ") })
}

func TestRequestsOfAClientAtOnceAreLimited(t *testing.T) {
	asked, answer := make(chan bool), make(chan bool)
	octane := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- true; <-answer }))
	defer octane.Close()
	f := serve(t, trusting("limits = { in_flight_per_address = 1 }", octaneSite(octane.Listener.Addr().String(), "")))
	conn := f.dial()
	fmt.Fprintf(conn, "GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
	<-asked
	second := f.raw("GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
	if !strings.HasPrefix(second, "HTTP/1.0 429 ") || !strings.Contains(second, "\r\nRetry-After: 1\r\n") {
		t.Errorf("the second of a client: %q, want 429", second)
	}
	other := make(chan string, 1)
	go func() { other <- f.raw("GET / HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: 1.2.3.5\r\n\r\n") }()
	<-asked
	answer <- true
	answer <- true
	select {
	case got := <-other:
		if !strings.HasPrefix(got, "HTTP/1.0 200 ") {
			t.Errorf("another client: %q, want 200", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("another client waits")
	}
}
