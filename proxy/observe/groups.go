package observe

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// GroupStatus is what the gauges of one upstream are read from.
type GroupStatus struct {
	Name        string // from the configuration
	Queued      int    // requests waiting now
	QueueLength int    // how many may wait
	Backends    []BackendStatus
}

// BackendStatus is what the gauges of one backend are read from.
type BackendStatus struct {
	Addr        string // from the configuration
	InFlight    int
	MaxInFlight int // zero means no cap
	Ejected     bool
}

// RegisterGroups makes status, called at every scrape, the source of the gauges of upstreams and backends.
// It replaces the source given before, also one given to another Observer of the same registry: call it
// when the state that status speaks of has become the serving one. status must be safe for concurrent use.
func (o *Observer) RegisterGroups(status func() []GroupStatus) error {
	groups, err := register(o.registry, newGroupCollector())
	if err != nil {
		return err
	}
	groups.status.Store(&status)
	return nil
}

// groupCollector reads at scrape time what the groups keep count of anyway, so that requests pay nothing.
type groupCollector struct {
	status atomic.Pointer[func() []GroupStatus]

	queued, queueLimit, inFlight, inFlightLimit, up *prometheus.Desc
}

func newGroupCollector() *groupCollector {
	group, backend := []string{"upstream"}, []string{"upstream", "backend"}
	return &groupCollector{
		queued:        prometheus.NewDesc("gateway_upstream_queued", "Requests waiting for a place at a backend.", group, nil),
		queueLimit:    prometheus.NewDesc("gateway_upstream_queue_limit", "How many requests may wait.", group, nil),
		inFlight:      prometheus.NewDesc("gateway_backend_in_flight", "Requests at the backend.", backend, nil),
		inFlightLimit: prometheus.NewDesc("gateway_backend_in_flight_limit", "How many requests may be at the backend; 0 means no cap.", backend, nil),
		up:            prometheus.NewDesc("gateway_backend_up", "0 while the backend is ejected, else 1.", backend, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *groupCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.queued, c.queueLimit, c.inFlight, c.inFlightLimit, c.up} {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (c *groupCollector) Collect(out chan<- prometheus.Metric) {
	status := c.status.Load()
	if status == nil {
		return
	}
	for _, g := range (*status)() {
		out <- gauge(c.queued, g.Queued, g.Name)
		out <- gauge(c.queueLimit, g.QueueLength, g.Name)
		for _, b := range g.Backends {
			up := 1
			if b.Ejected {
				up = 0
			}
			out <- gauge(c.inFlight, b.InFlight, g.Name, b.Addr)
			out <- gauge(c.inFlightLimit, b.MaxInFlight, g.Name, b.Addr)
			out <- gauge(c.up, up, g.Name, b.Addr)
		}
	}
}

func gauge(desc *prometheus.Desc, value int, labels ...string) prometheus.Metric {
	metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return metric
}
