// Package proxy builds a configuration into one handler and serves it until told otherwise.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"gateway/conf"
	"gateway/proxy/limit"
	"gateway/upstream/spool"
)

// Gateway serves one configuration at a time. Its methods may be called concurrently.
type Gateway struct {
	registry   *prometheus.Registry
	started    time.Time
	dry        bool // built to be looked at: nothing may be written
	tunnels    tunnels
	budget     *spool.Budget                  // of what waits for clients
	accepted   limit.Counter                  // connections by address
	turnedAway prometheus.Counter             // of those, closed for their address had too many
	inFlight   limit.Counter                  // requests by address
	current    atomic.Pointer[shared[*state]] // nil before the first and after the last

	mu         sync.Mutex // guards listeners, states and closed; held for as long as a reload takes
	listeners  []*listener
	states     []*state // that have served, unless they have ended
	closed     bool
	background sync.WaitGroup // listeners that were taken out of the configuration
}

// ErrClosed is what a gateway says that is shutting down.
var ErrClosed = errors.New("the gateway is shutting down")

// Check builds cfg and lets go of it again. No address is bound and nothing is written.
func Check(cfg *conf.Config) error {
	g := newGateway()
	g.dry = true
	s, err := g.build(cfg, nil)
	if err != nil {
		return err
	}
	s.close()
	return nil
}

// New builds cfg, binds its addresses and serves. Each address that cannot be bound is in the error, as a
// *ListenError.
func New(cfg *conf.Config) (*Gateway, error) {
	g := newGateway()
	if err := g.registry.Register(spooled{g.budget}); err != nil {
		return nil, err
	}
	if err := g.Reload(cfg); err != nil {
		return nil, err
	}
	return g, nil
}

func newGateway() *Gateway {
	g := &Gateway{registry: prometheus.NewRegistry(), started: time.Now()}
	g.budget = spool.NewBudget(0, 0, g.spoolRefused)
	g.turnedAway = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "gateway_connections_turned_away_total", Help: "Connections closed at once because their address had too many.",
	})
	g.registry.MustRegister(g.turnedAway)
	return g
}

// Reload puts cfg in place of the configuration that is served. Requests under way stay on the one they
// began with, and so do tunnels. After an error nothing has changed.
func (g *Gateway) Reload(cfg *conf.Config) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	before := g.current.Load()
	var old *state
	if before != nil {
		old = before.value
	}
	next, err := g.build(cfg, old)
	if err != nil {
		return err
	}
	bound, err := g.bindMissing(cfg)
	if err != nil {
		next.close()
		return err
	}
	if next.certs != nil && (old == nil || old.certs != next.certs) {
		if err := next.certs.value.Start(context.Background()); err != nil {
			bound.close()
			next.close()
			return fmt.Errorf("tls: %w", err)
		}
	}
	next.self = share(next, (*state).end)
	g.states = append(slices.DeleteFunc(g.states, (*state).hasEnded), next)
	g.budget.SetLimits(cfg.Limits.SpoolMemory, cfg.Limits.SpoolDisk)
	g.current.Store(next.self)
	g.listen(cfg, bound)
	if before != nil {
		before.release()
	}
	return nil
}

// listen serves what cfg names, with its limits, and drains what it no longer names.
func (g *Gateway) listen(cfg *conf.Config, bound *bound) {
	var listeners []*listener
	for _, at := range cfg.Listen {
		l := find(g.listeners, at)
		if l == nil {
			l = find(bound.fresh, at)
			l.limit(cfg.Limits)
			l.start()
		} else {
			l.limit(cfg.Limits)
		}
		if h := bound.http3[l]; h != nil {
			h.limit(cfg.Limits)
			l.http3 = h
		} else if l.http3 != nil && !cfg.HTTP3 {
			g.retire(l.http3.drain, cfg.Limits.Grace)
			l.http3 = nil
		}
		listeners = append(listeners, l)
	}
	for _, l := range g.listeners {
		if find(listeners, l.at) == nil {
			g.retire(l.drain, cfg.Limits.Grace)
		}
	}
	g.listeners = listeners
}

func (g *Gateway) retire(drain func(context.Context), grace time.Duration) {
	g.background.Add(1)
	go func() {
		defer g.background.Done()
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		drain(ctx)
	}()
}

// Shutdown stops accepting, waits for the requests under way at most as long as ctx, and ends the tunnels.
func (g *Gateway) Shutdown(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	g.tunnels.closeStreams()
	for _, l := range g.listeners {
		g.background.Add(1)
		go func() {
			defer g.background.Done()
			l.drain(ctx)
		}()
	}
	g.background.Wait()
	g.current.Swap(nil).release()
	ends := []<-chan struct{}{g.tunnels.closeAll()}
	for _, s := range g.states {
		ends = append(ends, s.ended)
	}
	for _, ended := range ends {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
}

// ServeHTTP answers with the configuration that is current as the request comes.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := g.acquire()
	if s == nil {
		panic(http.ErrAbortHandler)
	}
	defer s.release()
	s.value.handler.ServeHTTP(w, r)
}

// acquire returns the current state with a reference added, or nil after the end.
func (g *Gateway) acquire() *shared[*state] {
	for {
		s := g.current.Load()
		if s == nil || s.retain() {
			return s
		}
	}
}

// log returns the logger of the current configuration.
func (g *Gateway) log() *zap.Logger {
	if s := g.current.Load(); s != nil {
		return s.value.log.value.Logger
	}
	return zap.NewNop()
}
