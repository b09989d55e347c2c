package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// sink gathers log lines. Servers answer before the line is written, so lines is closed over by a channel.
type sink struct{ lines chan string }

func (s sink) Write(p []byte) (int, error) {
	s.lines <- string(p)
	return len(p), nil
}

func (s sink) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-t.Context().Done():
		t.Fatal("no line was logged")
		return ""
	}
}

func (s sink) nextJSON(t *testing.T) map[string]any {
	t.Helper()
	line := s.next(t)
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	return fields
}

func newSink() sink { return sink{lines: make(chan string, 64)} }

func (s sink) logger(t testing.TB, format string) *zap.Logger {
	t.Helper()
	encoder, err := newEncoder(format)
	if err != nil {
		t.Fatal(err)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(s), zapcore.InfoLevel))
}

// serve puts handler behind an Observer on a real listener.
func serve(t *testing.T, cfg Config, handler http.HandlerFunc) (*httptest.Server, *Observer, sink) {
	t.Helper()
	logs := newSink()
	cfg.Log = logs.logger(t, "json")
	o, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(o.Wrap(handler))
	srv.Config.ErrorLog = zap.NewStdLog(zap.NewNop())
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, o, logs
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func wantFields(t *testing.T, got map[string]any, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %v, want %v", key, got[key], value)
		}
	}
}

func TestLineSaysWhatWasAskedAndAnswered(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "made it")
	})
	req, _ := http.NewRequest("POST", srv.URL+"/orders?page=2", strings.NewReader("quantity=3"))
	req.Header.Set("User-Agent", "tester/1")
	req.Header.Set("Referer", "https://shop.example/?signature=abc")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	line := logs.nextJSON(t)
	wantFields(t, line, map[string]any{
		"msg": "request", "level": "info", "method": "POST", "uri": "/orders?page=2", "proto": "HTTP/1.1",
		"host": strings.TrimPrefix(srv.URL, "http://"), "status": 201.0, "bytes_out": 7.0, "bytes_in": 10.0,
		"client": "127.0.0.1", "user_agent": "tester/1", "referer": "https://shop.example/?signature=***",
	})
	if id, _ := line["request_id"].(string); len(id) != 32 {
		t.Errorf("request_id = %q, want 32 digits", id)
	}
	for _, absent := range []string{"upstream", "aborted", "error", "stderr", "site"} {
		if _, there := line[absent]; there {
			t.Errorf("line has %s = %v, want none", absent, line[absent])
		}
	}
}

func TestLineHoldsWhatInnerLayersFilled(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		rec := FromContext(r.Context())
		rec.Site, rec.Variant, rec.Upstream, rec.Backend = "shop", "octane", "fpm", "unix:/run/fpm.sock"
		rec.Attempts, rec.Reused, rec.ClientAddr, rec.Status = 2, true, "192.0.2.7", 499
		rec.Queue, rec.Dial, rec.FirstByte, rec.Body = 1500000, 250000, 12000000, 3000
		rec.Stderr, rec.Note, rec.Err = []string{"one", "two\nlines"}, "spooled", io.ErrUnexpectedEOF
	})
	get(t, srv.URL)

	line := logs.nextJSON(t)
	wantFields(t, line, map[string]any{
		"site": "shop", "variant": "octane", "upstream": "fpm", "backend": "unix:/run/fpm.sock",
		"attempts": 2.0, "reused": true, "client": "192.0.2.7", "status": 499.0, "note": "spooled",
		"queue_ms": 1.5, "dial_ms": 0.25, "first_byte_ms": 12.0, "body_ms": 0.003,
		"error": "unexpected EOF",
	})
	stderr, _ := line["stderr"].([]any)
	if len(stderr) != 2 || stderr[1] != `two\nlines` {
		t.Errorf("stderr = %q, want two lines, the break escaped", stderr)
	}
}

func TestAbortedRequestIsLogged(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client saw a whole answer, want a cut one")
	}
	wantFields(t, logs.nextJSON(t), map[string]any{"aborted": true, "status": 200.0, "bytes_out": 4.0})
}

func TestRequestIDIsTakenOnlyWhenTrustedAndSane(t *testing.T) {
	cases := []struct {
		name  string
		trust bool
		sent  []string
		taken bool
	}{
		{name: "not trusted", sent: []string{"abc-1"}},
		{name: "trusted", trust: true, sent: []string{"0af7.A_z-9"}, taken: true},
		{name: "absent", trust: true},
		{name: "empty", trust: true, sent: []string{""}},
		{name: "control bytes", trust: true, sent: []string{"a\tb"}},
		{name: "quote", trust: true, sent: []string{`a"b`}},
		{name: "too long", trust: true, sent: []string{strings.Repeat("a", 129)}},
		{name: "twice", trust: true, sent: []string{"a", "b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o, err := New(Config{TrustRequestID: c.trust})
			if err != nil {
				t.Fatal(err)
			}
			var id string
			h := o.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				id = FromContext(r.Context()).ID
			}))
			r := httptest.NewRequest("GET", "/", nil)
			r.Header["X-Request-Id"] = c.sent
			h.ServeHTTP(httptest.NewRecorder(), r)
			if taken := len(c.sent) > 0 && id == c.sent[0]; taken != c.taken {
				t.Errorf("id = %q, taken = %v, want %v", id, taken, c.taken)
			}
		})
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		seen[newRequestID()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different ids of 1000", len(seen))
	}
}

func TestFromContextOutsideWrapIsNotNil(t *testing.T) {
	FromContext(t.Context()).Site = "nobody reads this"
}

func TestHeaderEditsInsideDoNotReachTheLine(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("User-Agent", "rewritten")
	})
	get(t, srv.URL)
	if got := logs.nextJSON(t)["user_agent"]; got != "Go-http-client/1.1" {
		t.Errorf("user_agent = %v, want the client's own", got)
	}
}

func TestSilentLogStillCounts(t *testing.T) {
	registry := prometheus.NewRegistry()
	o, err := New(Config{Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	o.Wrap(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if got := scrape(t, o); !strings.Contains(got, `gateway_requests_total{code="4xx",method="GET",site="",variant=""} 1`) {
		t.Errorf("the request was not counted:\n%s", got)
	}
}

func scrape(t *testing.T, o *Observer) string {
	t.Helper()
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if rec.Code != http.StatusOK {
		t.Fatalf("metrics: status = %d: %s", rec.Code, rec.Body)
	}
	var buf bytes.Buffer
	buf.ReadFrom(rec.Body)
	return buf.String()
}
