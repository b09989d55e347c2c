package upstream

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

// fail counts a failure of b, and keeps b out for a while when there were too many. Answers never count, not
// even a 500 or the 503 of maintenance mode: whoever answers is alive.
func (g *Group) fail(b *backend) {
	b.failed.Add(1)
	now := time.Now()
	g.mu.Lock()
	b.forget(now.Add(-g.cfg.EjectWindow))
	b.failures = append(b.failures, now)
	b.servedBefore = b.served.Load()
	out := len(b.failures) >= g.cfg.EjectAfter && g.mayEject(b)
	if out {
		b.ejected = now.Add(g.cfg.EjectFor)
		b.failures = b.failures[:0]
	}
	// The last backend goes on failing without being kept out.
	if excess := len(b.failures) - g.cfg.EjectAfter; excess > 0 {
		b.failures = slices.Delete(b.failures, 0, excess)
	}
	g.mu.Unlock()
	if out {
		time.AfterFunc(g.cfg.EjectFor, func() { g.readmit(b) })
		g.cfg.Logger.Warn("backend ejected", zap.String("upstream", g.cfg.Name), zap.String("backend", b.Addr),
			zap.Int("failures", g.cfg.EjectAfter), zap.Duration("for", g.cfg.EjectFor))
	}
}

// mayEject reports whether b is in, and not the last that is: with nothing left to try, a backend that often
// fails is better than none.
func (g *Group) mayEject(b *backend) bool {
	return b.ejected.IsZero() && slices.ContainsFunc(g.backends, func(other *backend) bool {
		return other != b && other.ejected.IsZero()
	})
}

// readmit lets b in again. Requests may have been waiting for just that.
func (g *Group) readmit(b *backend) {
	g.mu.Lock()
	b.ejected = time.Time{}
	g.dispatch()
	g.mu.Unlock()
	g.cfg.Logger.Info("backend readmitted", zap.String("upstream", g.cfg.Name), zap.String("backend", b.Addr))
}

// forget drops the failures before the window. The caller holds the group's lock.
func (b *backend) forget(before time.Time) {
	kept := slices.IndexFunc(b.failures, before.Before)
	if kept < 0 {
		kept = len(b.failures)
	}
	b.failures = slices.Delete(b.failures, 0, kept)
}

// Down reports whether no backend is worth a try now: each is kept out, or would be if it were not the last.
// One that has answered since its last failure is up, and after EjectFor each is worth a try again.
func (g *Group) Down() bool {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.backends {
		if b.ejected.IsZero() && !b.failing(g.cfg, now) {
			return false
		}
	}
	return true
}

// failing reports whether b has failed too often, lately, and not answered since. The caller holds the
// group's lock.
func (b *backend) failing(cfg Config, now time.Time) bool {
	n := len(b.failures)
	return n >= cfg.EjectAfter && b.served.Load() == b.servedBefore && now.Sub(b.failures[n-1]) < cfg.EjectFor
}
