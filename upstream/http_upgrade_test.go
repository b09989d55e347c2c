package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func newUpgrade() *http.Request {
	r := newRequest("GET", "")
	r.Header.Set("Connection", "keep-alive, Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Key", "key")
	return r
}

// echoBackend answers an upgrade, says hello with the head, and echoes until the other side ends. Other requests get ok.
func echoBackend(t *testing.T) string {
	addr, _ := httpBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Upgrade") != "websocket" {
			io.WriteString(w, "ok")
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
		io.Copy(c, rw)
		io.WriteString(c, "bye")
	})
	return addr
}

func openTunnel(t *testing.T, g *Group, r *http.Request) io.ReadWriteCloser {
	t.Helper()
	resp, err := g.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("RoundTrip = %v, %v", resp, err)
	}
	if resp.Header.Get("Upgrade") != "websocket" {
		t.Errorf("header = %v", resp.Header)
	}
	tunnel, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatalf("body is a %T", resp.Body)
	}
	return tunnel
}

func TestTunnelCarriesBothWays(t *testing.T) {
	h := newHTTP(t, HTTPConfig{Address: echoBackend(t), BetweenBytesTimeout: 20 * time.Millisecond})
	g := newGroup(t, Config{Backends: oneBackend(h, 1)})
	ctx, cancel := context.WithCancel(t.Context())
	tunnel := openTunnel(t, g, newUpgrade().WithContext(ctx))
	cancel() // a tunnel outlives the request that opened it

	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(tunnel, got); err != nil || string(got) != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
	expect("hello")
	// Tunnels have limits of their own. A pause longer than any of the transport's must not end one.
	socket := tunnel.(socket)
	socket.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := tunnel.Read(make([]byte, 1)); !os.IsTimeout(err) {
		t.Errorf("Read = %v, want the deadline that was set", err)
	}
	socket.SetReadDeadline(time.Time{})
	for _, word := range []string{"ping", strings.Repeat("long ", 100_000)} {
		go io.WriteString(tunnel, word)
		expect(word)
	}
	if err := socket.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	expect("bye")
	if n, err := tunnel.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v; want a plain io.EOF", n, err)
	}
	if n := g.Status()[0].InFlight; n != 1 {
		t.Errorf("%d in flight before Close, want 1", n)
	}
	tunnel.Close()
	tunnel.Close()
	drain(t, g)
}

func TestRefusedUpgradeIsAnOrdinaryResponse(t *testing.T) {
	addr, conns := httpBackend(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, "no")
	})
	h := newHTTP(t, HTTPConfig{Address: addr})
	g := newGroup(t, Config{Backends: oneBackend(h, 1)})
	for range 2 {
		resp, err := g.RoundTrip(newUpgrade())
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "no" || err != nil || resp.StatusCode != 403 {
			t.Errorf("%d %q, %v", resp.StatusCode, body, err)
		}
	}
	if n := conns.Load(); n != 2 || h.idleCount() != 0 {
		t.Errorf("%d connections, %d kept; want one for each upgrade", n, h.idleCount())
	}
	drain(t, g)
}

func TestUpgradeTakesNoKeptConnection(t *testing.T) {
	h := newHTTP(t, HTTPConfig{Address: echoBackend(t)})
	g := newGroup(t, Config{Backends: oneBackend(h, 0)})
	if got, err := send(g, newRequest("GET", "")); got != "ok" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	tunnel := openTunnel(t, g, newUpgrade())
	if h.idleCount() != 1 {
		t.Error("the kept connection was taken")
	}
	tunnel.Close()
	drain(t, g)
}

func TestLostUpgradeIsNotRepeated(t *testing.T) {
	seen := make(chan struct{}, 10)
	addr := rawBackend(t, func(_ int, _ net.Conn, r *bufio.Reader) {
		readRequest(r)
		seen <- struct{}{}
	})
	g := newGroup(t, Config{Backends: oneBackend(newHTTP(t, HTTPConfig{Address: addr}), 1)})
	_, err := send(g, newUpgrade())
	if e := asError(t, err); !errors.Is(err, io.ErrUnexpectedEOF) || e.Blame != Backend || len(seen) != 1 {
		t.Errorf("%v, blame %v, sent %d times", err, e.Blame, len(seen))
	}
	drain(t, g)
}

// plainStream is a 101 body of a transport that has no more than the interface asks for.
type plainStream struct{ net.Conn }

func TestTunnelOfAnyTransport(t *testing.T) {
	near, far := net.Pipe()
	go io.Copy(far, far)
	g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(*http.Request) (*http.Response, error) {
		header := http.Header{"Upgrade": {"websocket"}}
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Header: header, Body: plainStream{near}}, nil
	}), 1)})
	tunnel := openTunnel(t, g, newUpgrade())
	if _, ok := tunnel.(socket); ok {
		t.Error("promises what the transport has not")
	}
	io.WriteString(tunnel, "x")
	if _, err := io.ReadFull(tunnel, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	tunnel.Close()
	drain(t, g)
}
