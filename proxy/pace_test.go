package proxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gateway/proxy/observe"
)

// pacedServer serves handler with timeout for each write and rate bytes a second, over HTTP/1.1 or HTTP/2.
func pacedServer(t *testing.T, major int, timeout time.Duration, rate int64, handler http.HandlerFunc) (*httptest.Server, *http.Client) {
	t.Helper()
	observer, err := observe.New(observe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(outermostFirst(handler, observer.Wrap, pace(timeout, rate)))
	if server.EnableHTTP2 = major == 2; server.EnableHTTP2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, server.Client()
}

// elapse returns when d has passed, as it does while a backend works.
func elapse(d time.Duration) { <-time.After(d) }

// overHTTP runs test on both versions of HTTP.
func overHTTP(t *testing.T, test func(t *testing.T, major int)) {
	t.Run("HTTP/1.1", func(t *testing.T) { test(t, 1) })
	t.Run("HTTP/2", func(t *testing.T) { test(t, 2) })
}

func TestWaitForABackendIsNotTheClientsTime(t *testing.T) {
	const timeout = 100 * time.Millisecond
	overHTTP(t, func(t *testing.T, major int) {
		server, client := pacedServer(t, major, timeout, 240, func(w http.ResponseWriter, r *http.Request) {
			elapse(3 * timeout) // before the answer
			io.WriteString(w, "first\n")
			_ = http.NewResponseController(w).Flush()
			elapse(3 * timeout) // and between its pieces
			io.WriteString(w, "second\n")
		})
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "first\nsecond\n" || resp.ProtoMajor != major {
			t.Errorf("body = %q, %v over %s", body, err, resp.Proto)
		}
	})
}

func TestSteadyDownloadOutlastsTheTimeForOneWrite(t *testing.T) {
	const timeout = time.Second
	path := filepath.Join(t.TempDir(), "large")
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	overHTTP(t, func(t *testing.T, major int) {
		took := make(chan time.Duration, 1)
		server, client := pacedServer(t, major, timeout, 240, func(w http.ResponseWriter, r *http.Request) {
			begun := time.Now()
			http.ServeFile(w, r, path)
			took <- time.Since(begun)
		})
		client.Transport.(*http.Transport).DialContext = narrow
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got bytes.Buffer
		for err == nil {
			_, err = io.CopyN(&got, resp.Body, 128<<10)
			elapse(15 * time.Millisecond)
		}
		if err != io.EOF || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v after %d of %d bytes", err, got.Len(), len(want))
		}
		if took := <-took; took < timeout {
			t.Errorf("it took %v, which says nothing", took)
		}
	})
}

// narrow dials with a small receive buffer: else the kernel takes most of a file off the server at once.
func narrow(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return conn, err
}

func TestClientThatTakesNothingIsGivenUp(t *testing.T) {
	overHTTP(t, func(t *testing.T, major int) {
		failed := make(chan error, 1)
		server, client := pacedServer(t, major, 50*time.Millisecond, 0, func(w http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(w, io.LimitReader(endless{}, 1<<30))
			failed <- err
		})
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := <-failed; err == nil {
			t.Error("1 GiB was written to a client that reads nothing")
		}
	})
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
