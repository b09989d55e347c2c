package observe

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// A seriesKey is everything that decides which metrics a request moves. There are as many as there are combinations
// of labels, which come from the configuration or from short lists.
type seriesKey struct {
	site, variant, code, method string
	upgraded                    bool   // its duration is that of a tunnel
	upstream                    string // empty: none was asked
	outcome                     string // of the last attempt; empty: there was none
}

// series are the metrics of one key; nil where it has none.
type series struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
	queue    prometheus.Observer
	attempt  prometheus.Counter
}

// seriesCache saves asking each vector for its labels, which costs as much as all the rest of a request's metrics.
type seriesCache struct {
	byKey atomic.Pointer[map[seriesKey]*series] // never changed, but replaced under mu
	mu    sync.Mutex
}

func (m *metrics) observe(x *exchange) {
	rec := &x.record
	s := m.find(x.seriesKey())
	s.requests.Inc()
	if s.seconds != nil {
		s.seconds.Observe(x.elapsed.Seconds())
	}
	if s.queue != nil {
		s.queue.Observe(rec.Queue.Seconds())
	}
	if s.attempt == nil {
		return
	}
	if rec.Attempts > 1 {
		m.attempts.WithLabelValues(rec.Upstream, "retried").Add(float64(rec.Attempts - 1))
	}
	s.attempt.Inc()
}

func (x *exchange) seriesKey() seriesKey {
	rec := &x.record
	key := seriesKey{
		site: rec.Site, variant: rec.Variant, code: class(x.status()), method: knownMethod(x.method),
		upgraded: x.writer.status == http.StatusSwitchingProtocols, upstream: rec.Upstream,
	}
	if rec.Upstream != "" && rec.Attempts > 0 {
		key.outcome = x.outcome()
	}
	return key
}

func (m *metrics) find(key seriesKey) *series {
	if known := m.series.byKey.Load(); known != nil {
		if s := (*known)[key]; s != nil {
			return s
		}
	}
	return m.add(key)
}

// add takes the series from the vectors, where they are made if they are not there: none shows before it counts.
func (m *metrics) add(key seriesKey) *series {
	s := &series{requests: m.requests.WithLabelValues(key.site, key.variant, key.code, key.method)}
	if !key.upgraded {
		s.seconds = m.seconds.WithLabelValues(key.site, key.variant)
	}
	if key.upstream != "" {
		s.queue = m.queue.WithLabelValues(key.upstream)
	}
	if key.outcome != "" {
		s.attempt = m.attempts.WithLabelValues(key.upstream, key.outcome)
	}
	m.series.mu.Lock()
	defer m.series.mu.Unlock()
	all := map[seriesKey]*series{key: s}
	if known := m.series.byKey.Load(); known != nil {
		maps.Copy(all, *known)
	}
	m.series.byKey.Store(&all)
	return s
}
