package proxy

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"gateway/conf"
	"gateway/fastcgi"
	"gateway/proxy/identity"
	"gateway/upstream"
	"gateway/upstream/spool"
)

// closeWait bounds how long a group that no state has any more waits for workers that outlive their
// requests.
const closeWait = time.Second

// group is an upstream with the transports to its backends.
type group struct {
	*upstream.Group
	name       string
	transports []transport
}

type transport interface {
	http.RoundTripper
	Close()
}

func openGroup(cfg conf.Upstream, budget *spool.Budget, log *zap.Logger) (*group, error) {
	g := &group{name: cfg.Name}
	var backends []upstream.BackendConfig
	for _, backend := range append(cfg.FastCGI, cfg.HTTP...) {
		t, err := openTransport(cfg, backend)
		if err != nil {
			return nil, err
		}
		g.transports = append(g.transports, t)
		backends = append(backends, upstream.BackendConfig{
			Addr: backend.String(), Transport: t, MaxInFlight: cfg.MaxInFlight,
		})
	}
	opened, err := upstream.New(upstream.Config{
		Name: cfg.Name, Backends: backends, Policy: cfg.Policy, HashKey: hashKey(cfg.HashKey),
		QueueLength: queueLength(cfg), QueueWait: cfg.QueueWait,
		EjectAfter: cfg.Health.Fails, EjectWindow: cfg.Health.Window, EjectFor: cfg.Health.Eject,
		SpoolBudget: budget, Logger: log,
	})
	g.Group = opened
	return g, err
}

// queueLength is cfg.Queue in the words of upstream, for which zero would mean the default.
func queueLength(cfg conf.Upstream) int {
	if cfg.Queue == 0 && cfg.MaxInFlight > 0 {
		return -1
	}
	return cfg.Queue
}

func openTransport(cfg conf.Upstream, backend conf.Endpoint) (transport, error) {
	if len(cfg.FastCGI) > 0 {
		return fastcgi.New(fastcgi.Config{
			Network: backend.Network, Address: backend.Address,
			MaxIdle: cfg.Keepalive.MaxIdle, IdleTimeout: cfg.Keepalive.Idle,
			DialTimeout: cfg.Timeouts.Dial, FirstByteTimeout: cfg.Timeouts.FirstByte,
			BetweenBytesTimeout: cfg.Timeouts.BetweenBytes, WriteTimeout: cfg.Timeouts.Write,
		})
	}
	maxIdle := cfg.Keepalive.MaxIdle
	if maxIdle == 0 {
		maxIdle = -1 // here zero would mean the default
	}
	return upstream.NewHTTP(upstream.HTTPConfig{
		Address: backend.String(), MaxIdle: maxIdle, IdleTimeout: cfg.Keepalive.Idle,
		DialTimeout: cfg.Timeouts.Dial, FirstByteTimeout: cfg.Timeouts.FirstByte,
		BetweenBytesTimeout: cfg.Timeouts.BetweenBytes, WriteTimeout: cfg.Timeouts.Write,
	})
}

func (g *group) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	// What is still under way after that is a worker whose client is gone; closing the transport ends it.
	_ = g.Close(ctx)
	for _, t := range g.transports {
		t.Close()
	}
}

func hashKey(key conf.HashKey) func(*http.Request) string {
	switch key.From {
	case "uri":
		return func(r *http.Request) string { return r.URL.RequestURI() }
	case "header":
		return func(r *http.Request) string { return r.Header.Get(key.Name) }
	case "cookie":
		return func(r *http.Request) string {
			c, err := r.Cookie(key.Name)
			if err != nil {
				return ""
			}
			return c.Value
		}
	}
	return func(r *http.Request) string { return identity.Of(r).Addr }
}
