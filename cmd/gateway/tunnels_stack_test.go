//go:build stack

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

const (
	manyTunnels  = 1000
	tunnelBudget = 20 << 10 // bytes of RSS for an idle one
)

// TestThousandIdleTunnels opens them, reloads under them, and stops.
func TestThousandIdleTunnels(t *testing.T) {
	upstream := fmt.Sprintf("[upstream.app]\nhttp = [%q]\n", startEcho(t))
	p := startGateway(t, "limits = { grace = \"10s\" }\n"+site(t)+upstream)
	openTunnel(t, p).echo("warm")
	before := p.kib(t, "VmRSS")
	tunnels := make([]*wire, manyTunnels)
	for i := range tunnels {
		tunnels[i] = openTunnel(t, p)
	}
	each := (p.kib(t, "VmRSS") - before) << 10 / manyTunnels
	t.Logf("%d bytes of RSS for each of %d idle tunnels", each, manyTunnels)
	if each > tunnelBudget {
		t.Errorf("an idle tunnel takes %d bytes, want at most %d", each, tunnelBudget)
	}

	// The second reload takes their upstream away, and the third the site.
	for n, text := range []string{
		site(t) + "[site.limits]\nbody = \"1MiB\"\n" + upstream,
		site(t) + upstream + "queue_wait = \"1s\"\n",
		"[[site]]\nhosts = [\"other.test\"]\nroot = \"/tmp\"\napp = \"app\"\n" + upstream,
	} {
		p.write(t, "limits = { grace = \"10s\" }\n"+text)
		if err := p.control(t).Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, w := range tunnels {
			w.echo(fmt.Sprintf("after reload %d", n))
		}
	}
	if n := p.status(t).Tunnels; n != manyTunnels+1 {
		t.Errorf("%d tunnels are open, want %d", n, manyTunnels+1)
	}

	p.signal(t, syscall.SIGTERM)
	if code := p.exit(t, 10*time.Second); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	for _, w := range tunnels {
		if _, err := io.Copy(io.Discard, w.in); err != nil && !isReset(err) {
			t.Errorf("the tunnel ends with %v", err)
		}
	}
	lines := p.access(t, "/app/key", manyTunnels+1)
	if line := lines[len(lines)-1]; line.Status != 101 || line.BytesOut == 0 {
		t.Errorf("the log says %+v, want 101 and what passed", line)
	}
}

// startEcho is a backend that switches protocols on every request, and then says what it is told.
func startEcho(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go echo(conn)
		}
	}()
	return l.Addr().String()
}

// echo ends with its connection.
func echo(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 512)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); err != nil {
		return
	}
	// A tunnel that breaks is what some tests are about.
	_, _ = io.Copy(conn, in)
}

func openTunnel(t *testing.T, p *process) *wire {
	t.Helper()
	w := dialWire(t, p)
	w.send("GET /app/key HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	if head := w.head(); head.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status = %d, want 101", head.StatusCode)
	}
	return w
}

func (w *wire) echo(word string) {
	w.t.Helper()
	w.send(word + "\n")
	if got := w.line(); got != word {
		w.t.Fatalf("%q came back for %q", got, word)
	}
}
