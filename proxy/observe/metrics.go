package observe

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// statusClientGone is how the record says that the client left before the answer.
const statusClientGone = 499

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	attempts *prometheus.CounterVec
	queue    *prometheus.HistogramVec
	inFlight prometheus.Gauge
	series   seriesCache
}

// Half a millisecond is a file, a minute is the longest that FPM may take by default.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

func newMetrics(registry *prometheus.Registry) (*metrics, error) {
	var errs [7]error
	m := new(metrics)
	m.requests, errs[0] = register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gateway_requests_total",
		Help: "Requests that ended, by class of status.",
	}, []string{"site", "variant", "code", "method"}))
	m.seconds, errs[1] = register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "gateway_request_seconds",
		Help:    "Time from the request's head read to the answer written, upgraded connections apart.",
		Buckets: buckets,
	}, []string{"site", "variant"}))
	m.attempts, errs[2] = register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gateway_upstream_attempts_total",
		Help: "Tries at backends: answered, retried, failed, truncated or abandoned by the client.",
	}, []string{"upstream", "outcome"}))
	m.queue, errs[3] = register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "gateway_upstream_queue_seconds",
		Help:    "Time that requests waited for a place at a backend.",
		Buckets: buckets,
	}, []string{"upstream"}))
	m.inFlight, errs[4] = register(registry, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gateway_in_flight",
		Help: "Requests being served, upgraded connections included.",
	}))
	_, errs[5] = register(registry, collectors.NewGoCollector())
	_, errs[6] = register(registry, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m, errors.Join(errs[:]...)
}

// register adds c to the registry or returns the one that is there already from before a reload.
func register[C prometheus.Collector](registry *prometheus.Registry, c C) (C, error) {
	err := registry.Register(c)
	var there prometheus.AlreadyRegisteredError
	if !errors.As(err, &there) {
		return c, err
	}
	existing, ok := there.ExistingCollector.(C)
	if !ok {
		return c, fmt.Errorf("register metrics: the registry holds a %T where %T belongs", there.ExistingCollector, c)
	}
	return existing, nil
}

// outcome says how the last attempt ended.
func (x *exchange) outcome() string {
	switch {
	case x.record.Status == statusClientGone:
		return "abandoned"
	case x.record.Truncated:
		return "truncated"
	case x.record.Err != nil:
		return "failed"
	default:
		return "answered"
	}
}

func class(status int) string {
	classes := [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}
	if i := status / 100; i < len(classes) {
		return classes[i]
	}
	return "other"
}

// knownMethod keeps clients from making up label values.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return "other"
}
