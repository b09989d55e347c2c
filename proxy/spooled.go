package proxy

import (
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"gateway/upstream/spool"
)

// spooled tells Prometheus what waits for clients.
type spooled struct{ budget *spool.Budget }

var (
	spoolBytes = prometheus.NewDesc("gateway_spool_bytes",
		"Bytes of bodies and responses that wait for their clients, or for a backend.", []string{"where"}, nil)
	spoolLimit = prometheus.NewDesc("gateway_spool_limit_bytes",
		"How many such bytes there may be.", []string{"where"}, nil)
	spoolRefused = prometheus.NewDesc("gateway_spool_refused_total",
		"Bodies turned away, and responses whose backend had to wait, since there was no room on disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s spooled) Describe(to chan<- *prometheus.Desc) {
	to <- spoolBytes
	to <- spoolLimit
	to <- spoolRefused
}

// Collect implements prometheus.Collector.
func (s spooled) Collect(to chan<- prometheus.Metric) {
	u := s.budget.Usage()
	gauge := func(desc *prometheus.Desc, value int64, where string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), where)
	}
	gauge(spoolBytes, u.Memory, "memory")
	gauge(spoolBytes, u.Disk, "disk")
	gauge(spoolLimit, u.MemoryLimit, "memory")
	gauge(spoolLimit, u.DiskLimit, "disk")
	to <- prometheus.MustNewConstMetric(spoolRefused, prometheus.CounterValue, float64(u.Refused))
}

// spoolRefused is called now and then while there is no room.
func (g *Gateway) spoolRefused(err error) {
	u := g.budget.Usage()
	g.log().Warn("no room for what waits for clients", zap.Error(err),
		zap.Int64("disk_bytes", u.Disk), zap.Int64("limit_bytes", u.DiskLimit))
}
