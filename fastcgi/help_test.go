package fastcgi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

const textHead = "Content-Type: text/plain\r\n\r\n"

func newTransport(t testing.TB, r *fcgitest.Responder, edit ...func(*Config)) *Transport {
	t.Helper()
	cfg := Config{Network: r.Network(), Address: r.Addr()}
	for _, e := range edit {
		e(&cfg)
	}
	tr, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func keep(n int) func(*Config) { return func(c *Config) { c.MaxIdle = n } }

func newEnv() *Env {
	return &Env{
		Root: "/srv/shop/public", RequestURI: "/cart?id=7", ServerName: "shop.example", ServerAddr: "192.0.2.1",
		ServerPort: "443", RemoteAddr: "198.51.100.9", RemotePort: "40000", Scheme: "https",
	}
}

// newRequest has an Env of its own in its context, which ends with the test.
func newRequest(t testing.TB, method, body string) *http.Request {
	t.Helper()
	return newRequestEnv(t, newEnv(), method, body)
}

func newRequestEnv(t testing.TB, env *Env, method, body string) *http.Request {
	t.Helper()
	return withBody(t, WithEnv(t.Context(), env), method, strings.NewReader(body))
}

func withBody(t testing.TB, ctx context.Context, method string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "https://shop.example/cart?id=7", body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetch returns the answer to a plain GET with its body, which must end well.
func fetch(t testing.TB, tr *Transport) (*http.Response, string) {
	t.Helper()
	return send(t, tr, newRequest(t, "GET", ""))
}

func send(t testing.TB, tr *Transport, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// refusal returns the *Error of a request that must fail.
func refusal(t testing.TB, tr *Transport, r *http.Request) *Error {
	t.Helper()
	resp, err := tr.RoundTrip(r)
	if err == nil {
		resp.Body.Close()
		t.Fatalf("status = %d, want an error", resp.StatusCode)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error is a %T, want *Error: %v", err, err)
	}
	return e
}

func await(t testing.TB, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

// isClosed reports whether c is closed now.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
