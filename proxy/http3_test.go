package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"gateway/fastcgi/fcgitest"
)

// overQUIC is overTLS with HTTP/3 beside it.
func overQUIC(text string) string { return "http3 = true\n" + overTLS(text) }

// clientHTTP3 returns a client that speaks HTTP/3 only.
func (f *fixture) clientHTTP3() *http.Client {
	transport := &http3.Transport{TLSClientConfig: clientTLS(http3.NextProtoH3)}
	f.t.Cleanup(func() { transport.Close() })
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// quic connects without saying anything.
func (f *fixture) quic() *quic.Conn {
	f.t.Helper()
	conn, err := quic.DialAddr(f.t.Context(), f.addr, clientTLS(http3.NextProtoH3), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.CloseWithError(0, "") })
	return conn
}

// http3Conn connects as a client that opens its own streams.
func (f *fixture) http3Conn() (*quic.Conn, *http3.ClientConn) {
	f.t.Helper()
	conn := f.quic()
	return conn, (&http3.Transport{}).NewClientConn(conn)
}

func paramsOf(request fcgitest.Request) map[string]string {
	params := map[string]string{}
	for _, p := range request.Params {
		params[p.Name] = p.Value
	}
	return params
}

func TestPageOverHTTP3(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	f := serve(t, overQUIC(fpmSite(responder, "")))
	write(t, f.public+"/big.bin", strings.Repeat("x", 3<<20))
	client := f.clientHTTP3()
	resp, body := f.ask(client, "POST", "/a%2Fb?x=1", io.MultiReader(strings.NewReader("body of unknown length")))
	if resp.StatusCode != 200 || resp.Proto != "HTTP/3.0" || body != "hello" || resp.Header["Alt-Svc"] != nil {
		t.Errorf("%s over %s: %q, %v", resp.Status, resp.Proto, body, resp.Header)
	}
	_, port, _ := strings.Cut(f.addr, ":")
	got := paramsOf(responder.Requests()[0])
	for name, want := range map[string]string{
		"HTTPS": "on", "REQUEST_SCHEME": "https", "SERVER_PORT": port, "SERVER_ADDR": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1",
		"SERVER_PROTOCOL": "HTTP/3.0", "HTTP_HOST": "shop.test", "REQUEST_URI": "/a%2Fb?x=1", "CONTENT_LENGTH": "22",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	if _, body := f.ask(client, "GET", "/big.bin", nil); len(body) != 3<<20 {
		t.Errorf("%d bytes of a file", len(body))
	}
	eventually(t, "access line", func() bool { return strings.Contains(f.accessLog(), `"HTTP/3.0"`) })
}

func TestAltSvcLeadsToHTTP3(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	f := serve(t, overQUIC(fpmSite(responder, "")))
	h1 := &http.Client{Transport: &http.Transport{TLSClientConfig: clientTLS()}}
	defer h1.CloseIdleConnections()
	for name, client := range map[string]*http.Client{"HTTP/1.1": h1, "HTTP/2.0": f.clientHTTP2()} {
		resp, _ := f.ask(client, "GET", "/", nil)
		if got := resp.Header.Get("Alt-Svc"); got != `h3=":443"; ma=86400` || resp.Proto != name {
			t.Errorf("over %s: Alt-Svc = %q", resp.Proto, got)
		}
	}
	// Behind a proxy nobody comes by UDP.
	for _, top := range []string{overTLS(fpmSite(responder, "")), "trusted_proxies = [\"loopback\"]\n" + overQUIC(fpmSite(responder, ""))} {
		if err := f.Reload(f.load(top)); err != nil {
			t.Fatal(err)
		}
		if resp, _ := f.ask(f.clientHTTP2(), "GET", "/", nil); resp.Header["Alt-Svc"] != nil {
			t.Errorf("Alt-Svc = %q, want none", resp.Header["Alt-Svc"])
		}
	}
}

func TestReloadTurnsHTTP3OnAndOff(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	off, on := overTLS(fpmSite(responder, "")), overQUIC(fpmSite(responder, ""))
	f := serve(t, off)
	for range 2 {
		if err := f.Reload(f.load(on)); err != nil {
			t.Fatal(err)
		}
		f.ask(f.clientHTTP3(), "GET", "/", nil)
		if err := f.Reload(f.load(off)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the port is free", func() bool {
			h, err := newHTTP3(f.listeners[0])
			if err == nil {
				h.close()
			}
			return err == nil
		})
	}
}

func TestHTTP3PortThatIsTakenLeavesTheOldConfiguration(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	f := serve(t, overTLS(fpmSite(responder, "")))
	h, err := newHTTP3(f.listeners[0])
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	err = f.Reload(f.load(overQUIC(fpmSite(responder, ""))))
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("err = %v", err)
	}
	f.ask(f.clientHTTP2(), "GET", "/", nil)
}

func TestReloadOfLimitsFailsNoRequestOverHTTP3(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "hello"))
	f := serve(t, overQUIC(fpmSite(responder, "")))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	client := f.clientHTTP3()
	go func() {
		defer close(failed)
		for ctx.Err() == nil {
			r, _ := http.NewRequest("GET", "https://"+f.addr+"/", nil)
			r.Host = "shop.test"
			resp, err := client.Do(r)
			if err != nil {
				failed <- err
				return
			}
			resp.Body.Close()
		}
	}()
	for i := range 5 {
		limits := fmt.Sprintf("limits = { streams_per_connection = %d }\n", 10+i)
		if err := f.Reload(f.load(limits + overQUIC(fpmSite(responder, "")))); err != nil {
			t.Error(err)
		}
		f.ask(f.clientHTTP3(), "GET", "/", nil)
	}
	cancel()
	if err := <-failed; err != nil {
		t.Errorf("a request failed: %v", err)
	}
}

func TestShutdownLetsRequestsOverHTTP3Finish(t *testing.T) {
	leave, asked := make(chan struct{}), make(chan struct{})
	responder := fcgitest.New(t, fcgitest.Echo(func(fcgitest.Request) string {
		close(asked)
		<-leave
		return "Content-Type: text/plain\r\n\r\ndone"
	}), fcgitest.End(0, 0))
	f := serve(t, overQUIC(fpmSite(responder, "")))
	answer := make(chan string, 1)
	client := f.clientHTTP3()
	go func() {
		_, body := f.ask(client, "GET", "/", nil)
		answer <- body
	}()
	<-asked
	down := make(chan struct{})
	go func() {
		defer close(down)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if f.Shutdown(ctx); ctx.Err() != nil {
			t.Error("the shutdown took all its time")
		}
	}()
	close(leave)
	if got := <-answer; got != "done" {
		t.Errorf("answer = %q", got)
	}
	<-down
}

func TestNoEarlyDataOverHTTP3(t *testing.T) {
	f := serve(t, overQUIC(fpmSite(fcgitest.New(t, fcgitest.Reply(200, "hello")), "")))
	config := clientTLS(http3.NextProtoH3)
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		conn, err := quic.DialAddrEarly(t.Context(), f.addr, config, nil)
		if err != nil {
			t.Fatal(err)
		}
		client := (&http3.Transport{}).NewClientConn(conn)
		r, _ := http.NewRequest("GET", "https://shop.test/", nil)
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if conn.ConnectionState().Used0RTT {
			t.Error("early data was taken")
		}
		conn.CloseWithError(0, "")
	}
}

func TestWebSocketOverHTTP3(t *testing.T) {
	backend, seen := wire(t)
	f := serve(t, overQUIC(octaneSite(backend, "")))
	_, client := f.http3Conn()
	stream, err := client.OpenRequestStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("CONNECT", "https://shop.test/app?key=1", nil)
	r.Proto = "websocket"
	r.Header.Set("Sec-WebSocket-Version", "13")
	if err := stream.SendRequestHeader(r); err != nil {
		t.Fatal(err)
	}
	resp, err := stream.ReadResponse()
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Sec-WebSocket-Protocol") != "chat" {
		t.Fatalf("%v, %v", resp, err)
	}
	if got := <-seen; got.Method != "GET" || got.RequestURI != "/app?key=1" || got.Header.Get("Upgrade") != "websocket" {
		t.Errorf("the backend got %s %s with %v", got.Method, got.RequestURI, got.Header)
	}
	said := strings.Repeat("x", 100_000)
	go io.WriteString(stream, said)
	expect(t, stream, said)
	stream.Close()
	if rest, err := io.ReadAll(stream); err != nil || string(rest) != "bye" {
		t.Errorf("%q, %v", rest, err)
	}
	eventually(t, "tunnel gone", func() bool { return f.Status().Tunnels == 0 })
}
