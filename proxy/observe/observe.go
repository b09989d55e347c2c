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
	log            *zap.Logger
	registry       *prometheus.Registry
	metrics        *metrics
	trustRequestID bool
}

// New returns an Observer whose metrics are registered. It fails if the registry holds other metrics
// under the same names.
func New(cfg Config) (*Observer, error) {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	m, err := newMetrics(cfg.Registry)
	if err != nil {
		return nil, err
	}
	return &Observer{
		log:            cfg.Log,
		registry:       cfg.Registry,
		metrics:        m,
		trustRequestID: cfg.TrustRequestID,
	}, nil
}

// Wrap gives every request to next a Record and writes it out when next has returned or panicked, or when the
// tunnel that it opened has ended. A panic goes on upwards with its stack; its line says that the request was
// aborted.
func (o *Observer) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := o.begin(w, r)
		defer o.leave(x)
		next.ServeHTTP(&x.writer, x.request(r))
		x.returned = true
	})
}
