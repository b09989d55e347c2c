package certs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// health remembers what went wrong last, for each managed host and for the storage, until it goes well again. Names on
// demand are for the log alone: clients choose them.
type health struct {
	managed []string
	now     func() time.Time
	logger  *zap.Logger

	mu      sync.Mutex // guards the rest
	hosts   map[string]failure
	storage *failure
}

// failure is a fault that is not mended yet.
type failure struct {
	text  string
	since time.Time
}

func newHealth(cfg Config, managed []string) *health {
	return &health{managed: managed, now: cfg.now, logger: cfg.Logger, hosts: make(map[string]failure)}
}

// errLater ends a renewal that has failed until the next look at the age of certificates.
var errLater = errors.New("tried again at the next look")

// event hears from the library, and stops it from trying a renewal over and over: it would do so for a month, where
// the certificate is revoked even in the one goroutine that looks after all certificates, which close waits for.
func (h *health) event(ctx context.Context, event string, data map[string]any) error {
	host, _ := data["identifier"].(string)
	renewal, _ := data["renewal"].(bool)
	switch event {
	case "cert_obtaining":
		if attempts, counted := ctx.Value(certmagic.AttemptsCtxKey).(*int); counted && *attempts > 0 && renewal {
			return certmagic.ErrNoRetry{Err: errLater}
		}
	case "cert_obtained":
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.hosts, host)
	case "cert_failed":
		err, _ := data["error"].(error)
		h.failed(host, err)
		if renewal {
			h.logger.Error("certificate not renewed, the one before goes on", zap.String("host", host), zap.Error(err))
		}
	case "cert_ocsp_revoked":
		subjects, _ := data["subjects"].([]string)
		for _, subject := range subjects {
			h.failed(subject, errRevoked)
		}
		h.logger.Error("certificate revoked by its authority, another is being asked for", zap.Strings("hosts", subjects))
	}
	return nil
}

func (h *health) failed(host string, err error) {
	if !slices.Contains(h.managed, host) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before, known := h.hosts[host]
	if !known {
		before.since = h.now()
	}
	before.text = err.Error()
	h.hosts[host] = before
}

// stored notes how a write to the storage went.
func (h *health) stored(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.storage = nil
	case h.storage == nil:
		h.storage = &failure{text: err.Error(), since: h.now()}
	default:
		h.storage.text = err.Error()
	}
}

// about returns what is wrong with a host's certificate, or nil. A storage that takes nothing is wrong for all.
func (h *health) about(host string) *failure {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f, known := h.hosts[host]; known {
		return &f
	}
	if h.storage != nil {
		return &failure{text: "storage: " + h.storage.text, since: h.storage.since}
	}
	return nil
}
