package upstream

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// idleCount returns how many connections are unused.
func (h *HTTP) idleCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.idle)
}

// take opens n responses at once.
func take(t *testing.T, h *HTTP, n int) (all []*http.Response) {
	t.Helper()
	for range n {
		resp, err := h.RoundTrip(newRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, resp)
	}
	return all
}

func readAll(t *testing.T, responses []*http.Response) {
	t.Helper()
	for _, resp := range responses {
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Error(err)
		}
		resp.Body.Close()
	}
}

func TestAsManyConnectionsAreKeptAsAllowed(t *testing.T) {
	addr, conns := httpBackend(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	for _, tc := range []struct{ max, want int }{{2, 2}, {0, 5}, {-1, 0}} {
		h := newHTTP(t, HTTPConfig{Address: addr, MaxIdle: tc.max})
		before := conns.Load()
		readAll(t, take(t, h, 5))
		if got := h.idleCount(); got != min(tc.want, int(conns.Load()-before)) {
			t.Errorf("MaxIdle %d: %d kept", tc.max, got)
		}
		h.CloseIdle()
		if got := h.idleCount(); got != 0 {
			t.Errorf("MaxIdle %d: %d kept after CloseIdle", tc.max, got)
		}
	}
}

func TestUnusedConnectionsExpire(t *testing.T) {
	ended := make(chan struct{}, 3)
	s, _ := httpBackend(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	addr := relay(t, s, ended)
	h := newHTTP(t, HTTPConfig{Address: addr, IdleTimeout: 50 * time.Millisecond})
	responses := take(t, h, 3)
	for _, resp := range responses {
		readAll(t, []*http.Response{resp})
	}
	for range 3 {
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatal("an unused connection stayed open")
		}
	}
	if n := h.idleCount(); n != 0 {
		t.Errorf("%d kept", n)
	}
}

// relay stands before a backend and tells when the gateway has ended a connection.
func relay(t *testing.T, backend string, ended chan<- struct{}) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", backend)
				if err != nil {
					return
				}
				defer server.Close()
				go io.Copy(client, server)
				io.Copy(server, client)
				ended <- struct{}{}
			}()
		}
	}()
	return listener.Addr().String()
}

func TestUnsoundConnectionsAreNotKept(t *testing.T) {
	for name, raw := range map[string]string{
		"close announced": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"old version":     "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"bytes too many":  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"bytes after 204": "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\nevil",
	} {
		addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, raw)
			io.Copy(io.Discard, r)
		})
		h := newHTTP(t, HTTPConfig{Address: addr})
		for range 2 {
			if got, err := send(h, newRequest("GET", "")); err != nil || strings.Contains(got, "evil") {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		if n := h.idleCount(); n != 0 {
			t.Errorf("%s: %d kept", name, n)
		}
	}
}

func TestLateBytesSpoilAnIdleConnection(t *testing.T) {
	late := make(chan struct{})
	addr := rawBackend(t, func(n int, c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		if n == 1 {
			io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
			close(late)
			io.Copy(io.Discard, r)
		}
	})
	h := newHTTP(t, HTTPConfig{Address: addr})
	for range 2 {
		resp, err := h.RoundTrip(newRequest("GET", ""))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		readAll(t, []*http.Response{resp})
		<-late
	}
}

func TestClosedTransportKeepsNothing(t *testing.T) {
	addr, _ := httpBackend(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	h := newHTTP(t, HTTPConfig{Address: addr})
	open := take(t, h, 1)
	h.Close()
	readAll(t, open)
	if got, err := send(h, newRequest("GET", "")); got != "ok" || err != nil || h.idleCount() != 0 {
		t.Errorf("after Close: %q, %v, %d kept", got, err, h.idleCount())
	}
}

func TestBackendAnswersBeforeItHasReadTheBody(t *testing.T) {
	const size = 8 << 20
	for name, answer := range map[string]string{
		"and closes":        "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno",
		"and wants it read": "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n" + strings.Repeat("y", size),
	} {
		addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			io.WriteString(c, answer)
			if len(answer) > size {
				io.Copy(io.Discard, req.Body)
				return
			}
			c.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, r)
		})
		h := newHTTP(t, HTTPConfig{Address: addr})
		g := newGroup(t, Config{Backends: oneBackend(h, 1), SpoolDir: t.TempDir()})
		got, err := send(g, newRequest("POST", strings.Repeat("x", size)))
		if err != nil || !strings.HasSuffix(answer, got) || got == "" {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		drain(t, g)
	}
}

func TestBodyThatIsNotAsLongAsItSays(t *testing.T) {
	for _, size := range []int64{3, 5, 50 << 10} {
		ended := make(chan struct{})
		addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			io.Copy(io.Discard, r)
			close(ended)
		})
		r := newRequest("POST", "body")
		r.ContentLength = size
		_, err := newHTTP(t, HTTPConfig{Address: addr}).RoundTrip(r)
		if e := asError(t, err); e.Blame != Gateway || e.SafeToRetry() {
			t.Errorf("%d bytes for 4: %v, blame %v", size, err, e.Blame)
		}
		<-ended
	}
}
