//go:build stack

package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	slowClients = 1000
	slowMiB     = 2        // what each of them asks for
	slowMemory  = 16 << 10 // KiB: limits.spool_memory
	perClient   = 64       // KiB: connection, goroutines, head and the piece that is being written
)

// deaf asks for a page on a connection with small buffers, and reads nothing. Were they large, the kernel would hold
// most of the answer, and the gateway little.
func deaf(t *testing.T, p *process, path string) *wire {
	t.Helper()
	dialer := net.Dialer{Timeout: time.Minute, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// Where it stays large, the test says less.
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
	}}
	conn, err := dialer.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	w := &wire{conn, t, bufio.NewReader(conn)}
	w.ask(path)
	return w
}

// TestMemoryIsBoundedHoweverManyClientsReadNothing: what they do not take waits on disk, PHP is done with them, and
// everyone else is served.
func TestMemoryIsBoundedHoweverManyClientsReadNothing(t *testing.T) {
	p := startGateway(t, fmt.Sprintf("limits = { spool_memory = \"%dKiB\" }\n", slowMemory)+
		site(t)+fastcgiUpstream("app", fpmPool())+fmt.Sprintf("queue = %d\nqueue_wait = \"5m\"\n", slowClients))
	v := visit(t, p)
	for range 20 {
		v.prompt()
	}
	before := p.kib(t, "VmRSS")
	p.forgetPeak(t)
	clients := make([]*wire, slowClients)
	for i := range clients {
		clients[i] = deaf(t, p, fmt.Sprintf("/api/download/%d", slowMiB))
	}
	eventuallyIn(t, 3*time.Minute, "PHP is done with all", func() bool { return p.inFlight(t) == 0 && p.upstream(t).Queued == 0 })
	for range 20 {
		v.prompt()
	}
	peak, most := p.kib(t, "VmHWM"), before+slowMemory+slowClients*perClient
	t.Logf("RSS before: %d KiB, with %d clients: %d KiB at most, of %d", before, slowClients, peak, most)
	if peak > most {
		t.Errorf("RSS rose to %d KiB, want at most %d", peak, most)
	}
	if memory := p.metric(t, `gateway_spool_bytes{where="memory"}`); memory < slowMemory<<10/2 || memory > slowMemory<<10 {
		t.Errorf("%g bytes wait in memory, want most of what may", memory)
	}
	t.Logf("%g bytes wait on disk", p.metric(t, `gateway_spool_bytes{where="disk"}`))
	for i, c := range clients {
		if i%100 == 0 {
			c.whole(slowMiB << 20)
		}
		c.Close()
	}
	eventually(t, "all is given back", func() bool {
		return p.metric(t, `gateway_spool_bytes{where="memory"}`)+p.metric(t, `gateway_spool_bytes{where="disk"}`) == 0
	})
}

// TestMemoryIsBoundedHoweverManyBodiesDoNotEnd: what came of them waits on disk, and no worker waits for the rest.
func TestMemoryIsBoundedHoweverManyBodiesDoNotEnd(t *testing.T) {
	p := startGateway(t, fmt.Sprintf("limits = { spool_memory = \"%dKiB\" }\n", slowMemory)+site(t)+fastcgiUpstream("app", fpmPool()))
	v := visit(t, p)
	for range 20 {
		v.prompt()
	}
	before := p.kib(t, "VmRSS")
	p.forgetPeak(t)
	const part = 60_000
	clients := make([]*wire, slowClients)
	for i := range clients {
		clients[i] = dialWire(t, p)
		clients[i].send(fmt.Sprintf("POST /api/sink HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", 2*part) + strings.Repeat("x", part))
	}
	eventually(t, "the rest is on disk", func() bool {
		return p.metric(t, `gateway_spool_bytes{where="disk"}`) > slowClients*part/2
	})
	for range 20 {
		v.prompt()
	}
	peak, most := p.kib(t, "VmHWM"), before+slowMemory+slowClients*perClient
	t.Logf("RSS before: %d KiB, with %d bodies: %d KiB at most, of %d", before, slowClients, peak, most)
	if peak > most {
		t.Errorf("RSS rose to %d KiB, want at most %d", peak, most)
	}
	for i, c := range clients {
		if i%100 == 0 {
			c.send(strings.Repeat("x", part))
			if resp := c.head(); resp.StatusCode != http.StatusOK {
				t.Errorf("client %d: %s", i, resp.Status)
			}
		}
		c.Close()
	}
	eventually(t, "all is given back", func() bool {
		return p.metric(t, `gateway_spool_bytes{where="memory"}`)+p.metric(t, `gateway_spool_bytes{where="disk"}`) == 0
	})
}

// whole reads an answer of n bytes.
func (w *wire) whole(n int64) {
	w.t.Helper()
	if err := w.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		w.t.Fatal(err)
	}
	resp := w.head()
	if got, err := io.Copy(io.Discard, resp.Body); got != n || err != nil {
		w.t.Errorf("%s with %d bytes, %v; want %d", resp.Status, got, err, n)
	}
}

// metric is the value of a series, labels and all.
func (p *process) metric(t *testing.T, series string) (value float64) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(p.dir, "admin.sock"))
	}}}
	resp, err := client.Get("http://gateway/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+series+" ")
	if _, err := fmt.Sscan(rest, &value); !found || err != nil {
		t.Fatalf("%s is not among the metrics: %v", series, err)
	}
	return value
}
