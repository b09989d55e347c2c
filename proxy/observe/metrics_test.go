package observe

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func record(t *testing.T, o *Observer, method string, fill func(http.ResponseWriter, *Record)) {
	t.Helper()
	o.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fill(w, FromContext(r.Context()))
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/", nil))
}

func wantSeries(t *testing.T, exposition string, series ...string) {
	t.Helper()
	for _, s := range series {
		if !strings.Contains(exposition, s+"\n") {
			t.Errorf("no %s in\n%s", s, gatewayLines(exposition))
		}
	}
}

func gatewayLines(exposition string) string {
	var kept []string
	for line := range strings.Lines(exposition) {
		if strings.HasPrefix(line, "gateway_") && !strings.Contains(line, "_bucket") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func newObserver(t testing.TB, cfg Config) *Observer {
	t.Helper()
	o, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRequestsAreCountedBySiteVariantClassAndMethod(t *testing.T) {
	o := newObserver(t, Config{})
	for range 2 {
		record(t, o, "GET", func(w http.ResponseWriter, rec *Record) {
			rec.Site, rec.Variant = "shop", "octane"
			w.WriteHeader(http.StatusFound)
		})
	}
	record(t, o, "BREW", func(_ http.ResponseWriter, rec *Record) { rec.Status = 499 })
	record(t, o, "GET", func(w http.ResponseWriter, _ *Record) { w.WriteHeader(http.StatusSwitchingProtocols) })
	wantSeries(t, scrape(t, o),
		`gateway_requests_total{code="3xx",method="GET",site="shop",variant="octane"} 2`,
		`gateway_requests_total{code="4xx",method="other",site="",variant=""} 1`,
		`gateway_requests_total{code="1xx",method="GET",site="",variant=""} 1`,
		`gateway_request_seconds_count{site="shop",variant="octane"} 2`,
		`gateway_request_seconds_count{site="",variant=""} 1`, // a tunnel of hours is no slow page
		`gateway_in_flight 0`,
	)
}

func TestCutBeforeAnyStatusHasNoClass(t *testing.T) {
	srv, o, logs := serve(t, Config{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := http.Get(srv.URL); err == nil {
		t.Error("the client got an answer, want a closed connection")
	}
	wantFields(t, logs.nextJSON(t), map[string]any{"status": 0.0, "aborted": true})
	wantSeries(t, scrape(t, o), `gateway_requests_total{code="none",method="GET",site="",variant=""} 1`)
}

func TestAttemptsAreCountedByOutcome(t *testing.T) {
	o := newObserver(t, Config{})
	for _, fill := range []func(*Record){
		func(rec *Record) { rec.Attempts = 1 },
		func(rec *Record) { rec.Attempts = 3 },
		func(rec *Record) { rec.Attempts, rec.Err = 2, io.EOF },
		func(rec *Record) { rec.Attempts, rec.Err, rec.Truncated = 1, io.EOF, true },
		func(rec *Record) { rec.Attempts, rec.Err, rec.Status = 1, io.EOF, 499 },
		func(rec *Record) { rec.Err = errors.New("queue full") },
	} {
		record(t, o, "GET", func(_ http.ResponseWriter, rec *Record) {
			rec.Upstream = "fpm"
			fill(rec)
		})
	}
	wantSeries(t, scrape(t, o),
		`gateway_upstream_attempts_total{outcome="answered",upstream="fpm"} 2`,
		`gateway_upstream_attempts_total{outcome="retried",upstream="fpm"} 3`,
		`gateway_upstream_attempts_total{outcome="failed",upstream="fpm"} 1`,
		`gateway_upstream_attempts_total{outcome="truncated",upstream="fpm"} 1`,
		`gateway_upstream_attempts_total{outcome="abandoned",upstream="fpm"} 1`,
		`gateway_upstream_queue_seconds_count{upstream="fpm"} 6`,
	)
}

func TestInFlightIsSeenWhileServing(t *testing.T) {
	o := newObserver(t, Config{})
	record(t, o, "GET", func(http.ResponseWriter, *Record) {
		wantSeries(t, scrape(t, o), "gateway_in_flight 1")
	})
}

func TestReloadKeepsCountersAndTakesNewGroups(t *testing.T) {
	registry := prometheus.NewRegistry()
	before := newObserver(t, Config{Registry: registry})
	record(t, before, "GET", func(http.ResponseWriter, *Record) {})
	registerGroups(t, before, GroupStatus{Name: "old"})

	after := newObserver(t, Config{Registry: registry})
	record(t, after, "GET", func(http.ResponseWriter, *Record) {})
	registerGroups(t, after, GroupStatus{Name: "fpm", Queued: 4, QueueLength: 50, Backends: []BackendStatus{
		{Addr: "unix:/a", InFlight: 3, MaxInFlight: 5},
		{Addr: "unix:/b", Ejected: true},
	}})

	got := scrape(t, after)
	wantSeries(t, got,
		`gateway_requests_total{code="2xx",method="GET",site="",variant=""} 2`,
		`gateway_upstream_queued{upstream="fpm"} 4`,
		`gateway_upstream_queue_limit{upstream="fpm"} 50`,
		`gateway_backend_in_flight{backend="unix:/a",upstream="fpm"} 3`,
		`gateway_backend_in_flight_limit{backend="unix:/a",upstream="fpm"} 5`,
		`gateway_backend_up{backend="unix:/a",upstream="fpm"} 1`,
		`gateway_backend_up{backend="unix:/b",upstream="fpm"} 0`,
	)
	if strings.Contains(got, `"old"`) {
		t.Error("the group of the state before is still reported")
	}
}

func registerGroups(t *testing.T, o *Observer, groups ...GroupStatus) {
	t.Helper()
	if err := o.RegisterGroups(func() []GroupStatus { return groups }); err != nil {
		t.Fatal(err)
	}
}

func TestForeignMetricOfTheSameNameIsRefused(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "gateway_requests_total"}))
	if _, err := New(Config{Registry: registry}); err == nil {
		t.Error("no error, want one that names the metric")
	}
}

func TestMetricNamesPassTheLinterAndAreDocumented(t *testing.T) {
	o := newObserver(t, Config{})
	record(t, o, "GET", func(_ http.ResponseWriter, rec *Record) { rec.Upstream, rec.Attempts = "fpm", 1 })
	registerGroups(t, o, GroupStatus{Name: "fpm", Backends: []BackendStatus{{Addr: "a"}}})
	exposition := scrape(t, o)
	problems, err := promlint.New(strings.NewReader(exposition)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "gateway_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	table, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(exposition) {
		help, isHelp := strings.CutPrefix(line, "# HELP ")
		if !isHelp {
			continue
		}
		name, _, _ := strings.Cut(help, " ")
		if !hasPrefixOf(name, "gateway_", "go_", "process_") {
			t.Errorf("%s has none of our prefixes", name)
		}
		if strings.HasPrefix(name, "gateway_") && !strings.Contains(string(table), "\t"+name+" ") {
			t.Errorf("%s is missing from the table in doc.go", name)
		}
	}
}

func hasPrefixOf(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
