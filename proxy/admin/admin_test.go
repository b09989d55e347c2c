package admin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func config(network, address string) Config {
	return Config{
		Network: network,
		Address: address,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "gateway_in_flight 0\n") }),
		Reload:  func() error { return nil },
		Status:  func() any { return map[string]int{"sites": 2} },
	}
}

// start serves cfg until the test ends and returns a client that has the token.
func start(t *testing.T, cfg Config) (*Server, *Client) {
	t.Helper()
	srv, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve() }()
	t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return srv, dialer(t, ClientConfig{Network: cfg.Network, Address: srv.Addr().String(), Token: cfg.Token})
}

func dialer(t *testing.T, cfg ClientConfig) *Client {
	t.Helper()
	client, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func socket(t *testing.T) string { return filepath.Join(t.TempDir(), "run", "admin.sock") }

// over runs test on both kinds of listener.
func over(t *testing.T, test func(t *testing.T, cfg Config)) {
	t.Run("unix", func(t *testing.T) { test(t, config("unix", socket(t))) })
	t.Run("tcp", func(t *testing.T) {
		cfg := config("tcp", "127.0.0.1:0")
		cfg.Token = "s3cret"
		test(t, cfg)
	})
}

func TestHealthyAndStatus(t *testing.T) {
	over(t, func(t *testing.T, cfg Config) {
		_, client := start(t, cfg)
		if err := client.Healthy(t.Context()); err != nil {
			t.Error(err)
		}
		status, err := client.Status(t.Context())
		if err != nil || !strings.Contains(string(status), `"sites": 2`) {
			t.Errorf("status = %s, %v", status, err)
		}
	})
}

func TestReloadCallsTheFunction(t *testing.T) {
	over(t, func(t *testing.T, cfg Config) {
		var calls atomic.Int32
		cfg.Reload = func() error { calls.Add(1); return nil }
		_, client := start(t, cfg)
		if err := client.Reload(t.Context()); err != nil || calls.Load() != 1 {
			t.Errorf("err = %v after %d calls; want nil after 1", err, calls.Load())
		}
	})
}

func TestRefusedReloadTellsTheReasons(t *testing.T) {
	const reasons = "gateway.toml:3:1: unknown key \"rooot\"; nearest is root\ngateway.toml:9:5: no upstream \"fmp\""
	over(t, func(t *testing.T, cfg Config) {
		cfg.Reload = func() error { return errors.New(reasons) }
		_, client := start(t, cfg)
		var refused *RefusedError
		if err := client.Reload(t.Context()); !errors.As(err, &refused) || refused.Reasons != reasons {
			t.Errorf("err = %v, want the reasons", err)
		}
	})
}

func TestStatusThatIsNoJSONIsAnError(t *testing.T) {
	cfg := config("unix", socket(t))
	cfg.Status = func() any { return func() {} }
	_, client := start(t, cfg)
	if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "answered 500") {
		t.Errorf("err = %v, want 500", err)
	}
}

func TestEveryCallOnTCPNeedsTheToken(t *testing.T) {
	cfg := config("tcp", "127.0.0.1:0")
	cfg.Token = "s3cret"
	cfg.Reload = func() error { t.Error("reload was called without the token"); return nil }
	srv, _ := start(t, cfg)
	headers := []string{"", "Bearer", "Bearer ", "Bearer wrong", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"}
	for _, path := range []string{"GET /healthz", "GET /metrics", "GET /status", "POST /reload", "GET /nowhere"} {
		for _, header := range headers {
			if got := ask(t, srv, path, header); got.StatusCode != http.StatusUnauthorized || got.Header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s with %q: status = %d, want 401", path, header, got.StatusCode)
			}
		}
	}
	if got := ask(t, srv, "GET /metrics", "bearer s3cret"); got.StatusCode != http.StatusOK {
		t.Errorf("with the token: status = %d, want 200", got.StatusCode)
	}
}

func ask(t *testing.T, srv *Server, call, authorization string) *http.Response {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+srv.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

func TestReloadIsNoGet(t *testing.T) {
	h := newHandler(config("unix", ""))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/reload", nil))
	if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != "POST" {
		t.Errorf("status = %d, Allow = %q; want 405 and POST", rec.Code, rec.Header().Get("Allow"))
	}
}

func TestMetricsAreServed(t *testing.T) {
	rec := httptest.NewRecorder()
	newHandler(config("unix", "")).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if got := rec.Body.String(); got != "gateway_in_flight 0\n" {
		t.Errorf("body = %q", got)
	}
}

func TestSocketAndItsDirectoryAreOurs(t *testing.T) {
	path := socket(t)
	old := syscall.Umask(0) // the loosest there is
	defer syscall.Umask(old)
	start(t, config("unix", path))
	for name, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: mode = %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestShutdownRemovesTheSocket(t *testing.T) {
	path := socket(t)
	srv, err := New(config("unix", path))
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v, want no file", err)
	}
}

func TestSocketOfADeadProcessIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false) // as a kill leaves it
	dead.Close()
	_, client := start(t, config("unix", path))
	if err := client.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSocketOfALiveProcessIsLeftAlone(t *testing.T) {
	path := socket(t)
	_, client := start(t, config("unix", path))
	if _, err := New(config("unix", path)); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v, want one that names the path and says in use", err)
	}
	if err := client.Healthy(t.Context()); err != nil {
		t.Errorf("the first gateway no longer answers: %v", err)
	}
}

func TestFileInPlaceOfTheSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(config("unix", path)); err == nil {
		t.Error("no error, want one")
	}
	if got, _ := os.ReadFile(path); string(got) != "precious" {
		t.Errorf("the file holds %q", got)
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	noReload := config("unix", "x")
	noReload.Reload = nil
	cases := []struct {
		name string
		cfg  Config
		want string
	}{
		{"network", config("udp", "x"), `unknown network "udp"; want unix or tcp`},
		{"tcp without a token", config("tcp", "127.0.0.1:0"), "want admin_token, or a unix socket"},
		{"no reload", noReload, "required"},
		{"no such directory", config("unix", "/proc/none/admin.sock"), "/proc/none"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := NewClient(ClientConfig{Network: "http"}); err == nil {
		t.Error("client: no error, want one that lists the networks")
	}
}

func TestClientSaysWhereItAsked(t *testing.T) {
	path := socket(t)
	err := dialer(t, ClientConfig{Network: "unix", Address: path}).Healthy(t.Context())
	if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "http://") {
		t.Errorf("err = %v, want one that names %s alone", err, path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v, want it to wrap that the socket does not exist", err)
	}
}

func TestClientStopsWithItsContext(t *testing.T) {
	cfg := config("unix", socket(t))
	entered, release := make(chan struct{}), make(chan struct{})
	cfg.Reload = func() error { close(entered); <-release; return nil }
	_, client := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if err := client.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want canceled", err)
	}
	close(release)
}

func TestRefusalIsAnErrorWithTheReasons(t *testing.T) {
	if got := (&RefusedError{Reasons: "because"}).Error(); got != "because" {
		t.Errorf("error = %q", got)
	}
}

func TestServeReportsAListenerThatBroke(t *testing.T) {
	srv, err := New(config("unix", socket(t)))
	if err != nil {
		t.Fatal(err)
	}
	srv.listener.Close()
	if err := srv.Serve(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("err = %v, want that the listener is closed", err)
	}
}

// The port may belong to some other program.
func TestStrangerOnThePortIsNotTakenForAGateway(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<html>welcome")
	}))
	defer stranger.Close()
	client := dialer(t, ClientConfig{Network: "tcp", Address: stranger.Listener.Addr().String(), Token: "t"})
	if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("status: err = %v, want that it is not JSON", err)
	}
	if err := client.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "answered 200") {
		t.Errorf("reload: err = %v, want the odd status", err)
	}
}
