package proxy

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"gateway/fastcgi/fcgitest"
)

// webSocket asks for one by extended CONNECT. What is written to in goes to the backend.
func (f *fixture) webSocket(protocol string) (in *io.PipeWriter, resp *http.Response) {
	f.t.Helper()
	body, in := io.Pipe()
	r, err := http.NewRequest("CONNECT", "https://"+f.addr+"/app?key=1", body)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Host = "shop.test"
	r.Header[":protocol"] = []string{protocol}
	r.Header.Set("Sec-WebSocket-Version", "13")
	transport := &http2.Transport{TLSClientConfig: clientTLS()}
	f.t.Cleanup(transport.CloseIdleConnections)
	resp, err = transport.RoundTrip(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { in.Close(); resp.Body.Close() })
	return in, resp
}

// wire starts a backend that upgrades, and sends back what comes until that ends; then it says bye.
func wire(t *testing.T) (addr string, seen <-chan *http.Request) {
	heads := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heads <- r
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: chat\r\n\r\n")
		io.Copy(conn, buffered)
		io.WriteString(conn, "bye")
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), heads
}

func TestWebSocketOverHTTP2(t *testing.T) {
	backend, seen := wire(t)
	f := serve(t, overTLS(octaneSite(backend, "")))
	in, resp := f.webSocket("websocket")
	h := resp.Header
	if resp.StatusCode != 200 || h.Get("Sec-WebSocket-Protocol") != "chat" || h["Sec-Websocket-Accept"] != nil || h["Content-Type"] != nil {
		t.Fatalf("%s, %v; want 200 with what the backend chose", resp.Status, h)
	}
	r := <-seen
	key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key"))
	if r.Method != "GET" || r.RequestURI != "/app?key=1" || r.Host != "shop.test" || err != nil || len(key) != 16 ||
		r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-WebSocket-Version") != "13" || r.Header.Get("X-Forwarded-Proto") != "https" {
		t.Errorf("the backend got %s %s at %s with %v", r.Method, r.RequestURI, r.Host, r.Header)
	}
	for _, said := range []string{"hello", strings.Repeat("x", 300_000)} {
		go io.WriteString(in, said)
		expect(t, resp.Body, said)
	}
	in.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "bye" {
		t.Errorf("%q, %v; want what the backend says after the client has ended", rest, err)
	}
	eventually(t, "access line", func() bool {
		return strings.Contains(f.accessLog(), `"status":200,"bytes_out":300008,"bytes_in":300005,`)
	})
}

func TestTunnelOnAStreamOutlivesAReload(t *testing.T) {
	backend, _ := wire(t)
	f := serve(t, overTLS(octaneSite(backend, "")))
	in, resp := f.webSocket("websocket")
	if err := f.Reload(f.load(overTLS("limits = { idle_timeout = \"5s\", grace = \"0s\" }\n" + octaneSite("127.0.0.1:1", "")))); err != nil {
		t.Fatal(err)
	}
	go io.WriteString(in, "after the reload")
	expect(t, resp.Body, "after the reload")
}

func TestShutdownEndsTunnelsOnStreams(t *testing.T) {
	backend, _ := wire(t)
	f := serve(t, overTLS(octaneSite(backend, "")))
	in, resp := f.webSocket("websocket")
	go io.WriteString(in, "hi")
	expect(t, resp.Body, "hi")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if f.Shutdown(ctx); ctx.Err() != nil {
		t.Error("the shutdown waited for the tunnel")
	}
	if rest, _ := io.ReadAll(resp.Body); len(rest) > 0 {
		t.Errorf("%q, want the end", rest)
	}
}

func TestClientThatLeavesEndsItsTunnelOnAStream(t *testing.T) {
	backend, _ := wire(t)
	f := serve(t, overTLS(octaneSite(backend, "")))
	_, resp := f.webSocket("websocket")
	eventually(t, "tunnel", func() bool { return f.Status().Tunnels == 1 })
	resp.Body.Close()
	eventually(t, "tunnel gone", func() bool { return f.Status().Tunnels == 0 })
}

func TestSilentTunnelOnAStreamEnds(t *testing.T) {
	backend, _ := wire(t)
	f := serve(t, overTLS(octaneSite(backend, "tunnel_idle = \"1s\"")))
	begun := time.Now()
	_, resp := f.webSocket("websocket")
	io.Copy(io.Discard, resp.Body)
	if took := time.Since(begun); took < 900*time.Millisecond || took > 8*time.Second {
		t.Errorf("ended after %v, want about 1 s", took)
	}
}

// Any 2xx would mean to the client that its WebSocket is open.
func TestPageIsNoWebSocket(t *testing.T) {
	f := serve(t, overTLS(fpmSite(fcgitest.New(t, fcgitest.Reply(200, "a page")), "")))
	for _, protocol := range []string{"websocket", "connect-udp"} {
		_, resp := f.webSocket(protocol)
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 501 || strings.Contains(string(body), "a page") {
			t.Errorf("%s: %s with %q, want 501", protocol, resp.Status, body)
		}
	}
}
