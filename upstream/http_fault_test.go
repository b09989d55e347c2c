package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMisbehavingBackends(t *testing.T) {
	for _, tc := range []struct {
		name, raw string
		is        error
		inBody    bool
	}{
		{name: "closes before the answer", raw: "", is: io.ErrUnexpectedEOF},
		{name: "closes within the head", raw: "HTTP/1.1 200 OK\r\nContent-", is: io.ErrUnexpectedEOF},
		{name: "is no HTTP", raw: "SSH-2.0-OpenSSH\r\n\r\n"},
		{name: "has two lengths", raw: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
		{name: "has an endless line", raw: "HTTP/1.1 200 OK\r\nLink: " + strings.Repeat("x", 70_000), is: ErrHeaderTooLarge},
		{name: "has endless lines", raw: "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 20_000), is: ErrHeaderTooLarge},
		{name: "has endless hints", raw: strings.Repeat("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", 3_000), is: ErrHeaderTooLarge},
		{name: "switches protocols unasked", raw: "HTTP/1.1 101 Switching Protocols\r\n\r\n", is: ErrUnexpectedUpgrade},
		{name: "breaks off within a length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", is: io.ErrUnexpectedEOF, inBody: true},
		{name: "breaks off within a chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", is: io.ErrUnexpectedEOF, inBody: true},
		{name: "breaks off between chunks", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", is: io.ErrUnexpectedEOF, inBody: true},
		{name: "has a bad chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalfandmore\r\n", inBody: true},
	} {
		h := newHTTP(t, HTTPConfig{Address: answering(t, tc.raw)})
		resp, err := h.RoundTrip(newRequest("POST", "body"))
		if tc.inBody {
			if err != nil {
				t.Errorf("%s: RoundTrip = %v", tc.name, err)
				continue
			}
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		e := asError(t, err)
		if e.Blame != Backend || e.SafeToRetry() || e.Timeout() || (tc.is != nil && !errors.Is(err, tc.is)) {
			t.Errorf("%s: %v, blame %v, safe %v", tc.name, err, e.Blame, e.SafeToRetry())
		}
		if n := len(h.idle); n != 0 {
			t.Errorf("%s: its connection was kept", tc.name)
		}
	}
}

func TestConnectionThatEndsUnderTheRequest(t *testing.T) {
	var sent atomic.Int32
	addr := rawBackend(t, func(n int, c net.Conn, r *bufio.Reader) {
		for i := 1; ; i++ {
			if req, _ := readRequest(r); req == nil {
				return
			}
			sent.Add(1)
			if n == 1 && i == 2 {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			if n > 1 {
				return
			}
		}
	})
	h := newHTTP(t, HTTPConfig{Address: addr})
	g := newGroup(t, Config{Backends: oneBackend(h, 1)})
	for i := range 2 {
		var trace Trace
		got, err := send(g, newRequest("GET", "").WithContext(WithTrace(t.Context(), &trace)))
		if got != "ok" || err != nil || trace.Reused || trace.Attempts != i+1 {
			t.Errorf("request %d: %q, %v, %+v", i+1, got, err, trace)
		}
	}
	if n := sent.Load(); n != 3 {
		t.Errorf("sent %d times, want 3", n)
	}
	drain(t, g)
}

func TestUnusedConnectionsThatEndedAreReplaced(t *testing.T) {
	closed := make(chan struct{})
	addr := rawBackend(t, func(n int, c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		if n == 1 {
			c.Close()
			close(closed)
		}
	})
	h := newHTTP(t, HTTPConfig{Address: addr})
	for range 2 {
		if _, err := send(h, newRequest("POST", "order")); err != nil {
			t.Fatalf("POST = %v, though the end of the connection was to be seen", err)
		}
		<-closed
	}
}

func TestTimeouts(t *testing.T) {
	const short = 30 * time.Millisecond
	silent := func(raw string) string {
		return rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, raw)
			io.Copy(io.Discard, r) // until the gateway gives up
		})
	}
	for name, cfg := range map[string]HTTPConfig{
		"first byte":      {Address: silent(""), FirstByteTimeout: short},
		"after a hint":    {Address: silent("HTTP/1.1 103 Early Hints\r\n\r\n"), FirstByteTimeout: short},
		"within the head": {Address: silent("HTTP/1.1 200"), BetweenBytesTimeout: short},
		"within the body": {Address: silent("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), BetweenBytesTimeout: short},
	} {
		_, err := send(newHTTP(t, cfg), newRequest("GET", ""))
		if e := asError(t, err); !e.Timeout() || e.Blame != Backend || e.SafeToRetry() {
			t.Errorf("%s: %v, timeout %v", name, err, e.Timeout())
		}
	}
}

func TestSteadyTrickleIsNoTimeout(t *testing.T) {
	addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
		tick := time.NewTicker(60 * time.Millisecond)
		defer tick.Stop()
		for range 10 {
			<-tick.C
			io.WriteString(c, "x")
		}
	})
	h := newHTTP(t, HTTPConfig{Address: addr, FirstByteTimeout: 400 * time.Millisecond, BetweenBytesTimeout: 400 * time.Millisecond})
	if got, err := send(h, newRequest("GET", "")); got != "xxxxxxxxxx" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	for _, raw := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"} {
		arrived, ended := make(chan struct{}), make(chan struct{})
		addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			readRequest(r)
			io.WriteString(c, raw)
			close(arrived)
			io.Copy(io.Discard, r)
			close(ended)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		_, err := send(newHTTP(t, HTTPConfig{Address: addr}), newRequest("GET", "").WithContext(ctx))
		if e := asError(t, err); !errors.Is(err, context.Canceled) || e.Blame != Client {
			t.Errorf("after %q: %v, blame %v", raw, err, e.Blame)
		}
		<-ended
	}
}

func TestReadingOnAfterTheEnd(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(*http.Response)
		want error
	}{
		"read to the end": {func(r *http.Response) { io.Copy(io.Discard, r.Body) }, io.EOF},
		"closed":          {func(r *http.Response) { r.Body.Close() }, http.ErrBodyReadAfterClose},
	} {
		h := newHTTP(t, HTTPConfig{Address: answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")})
		resp, err := h.RoundTrip(newRequest("GET", ""))
		if err != nil {
			t.Fatal(err)
		}
		end.do(resp)
		if _, err := resp.Body.Read(make([]byte, 1)); err != end.want {
			t.Errorf("%s: %v, want %v", name, err, end.want)
		}
	}
}

// fullBacklog is a unix socket that takes no more connections.
func fullBacklog(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := net.Dial("unix", path)
		if err != nil {
			return path
		}
		t.Cleanup(func() { c.Close() })
	}
}

func TestFullBacklogIsBusyAndNotBroken(t *testing.T) {
	h := newHTTP(t, HTTPConfig{Address: "unix:" + fullBacklog(t)})
	g := newGroup(t, Config{Backends: oneBackend(h, 1), QueueWait: 300 * time.Millisecond})
	var trace Trace
	_, err := send(g, newRequest("POST", "order").WithContext(WithTrace(t.Context(), &trace)))
	e := asError(t, err)
	if !e.Busy() || e.Timeout() || e.RetryAfter() == 0 || !errors.Is(err, ErrQueueTimeout) || trace.Attempts < 2 {
		t.Errorf("%v: busy %v, timeout %v, %d attempts", err, e.Busy(), e.Timeout(), trace.Attempts)
	}
	if n := g.Status()[0].Failed; n != 0 {
		t.Errorf("%d counted as failures", n)
	}
	drain(t, g)
}
