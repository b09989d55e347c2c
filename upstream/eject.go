package upstream

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

// fail counts a failure of b, and keeps b out for a while when there were too many. Answers never count, not
// even a 500 or the 503 of maintenance mode: whoever answers is alive.
func (g *Group) fail(b *backend, cause *Error) {
	b.failed.Add(1)
	now := time.Now()
	g.mu.Lock()
	b.count(g.cfg, now)
	g.cause, g.retry = cause, now.Add(g.cfg.EjectFor)
	became := g.diagnose(b, now)
	g.dispatch() // who insisted on b may take another now
	if g.deaf() {
		g.sendAway()
	}
	g.mu.Unlock()
	if became == noNews {
		return
	}
	about := []zap.Field{
		zap.String("upstream", g.cfg.Name), zap.String("backend", b.Addr), zap.Int("failures", g.cfg.EjectAfter), zap.Error(cause),
	}
	switch became {
	case nowEjected:
		g.cfg.Logger.Warn("backend ejected", append(about, zap.Duration("for", g.cfg.EjectFor))...)
	case nowDown:
		g.cfg.Logger.Warn("backend down", about...)
	}
}

// news is what became of a backend through a failure.
type news uint8

const (
	noNews news = iota
	nowEjected
	nowDown
)

// diagnose keeps b out when it has failed too often, or notes that it does not answer when it is the last. The
// caller holds the lock.
func (g *Group) diagnose(b *backend, now time.Time) (is news) {
	switch {
	case len(b.failures) >= g.cfg.EjectAfter && g.mayEject(b):
		b.ejected, b.down = now.Add(g.cfg.EjectFor), false
		b.failures = b.failures[:0]
		until := b.ejected
		time.AfterFunc(g.cfg.EjectFor, func() { g.readmit(b, until) })
		is = nowEjected
	case b.ejected.IsZero() && !b.down && b.silent(g.cfg) && !g.mayEject(b):
		b.down = true
		is = nowDown
	default:
		return noNews
	}
	b.since = now
	b.ailing.Store(true)
	return is
}

// count remembers a failure. The caller holds the group's lock.
func (b *backend) count(cfg Config, now time.Time) {
	b.forget(now.Add(-cfg.EjectWindow))
	b.failures = append(b.failures, now)
	// A backend that is not kept out goes on failing.
	if excess := len(b.failures) - cfg.EjectAfter; excess > 0 {
		b.failures = slices.Delete(b.failures, 0, excess)
	}
	served := b.served.Load()
	if served != b.servedBefore {
		b.row = 0
	}
	b.row++
	b.servedBefore = served
}

// mayEject reports whether b is in, and not the last that is: with nothing left to try, a backend that often
// fails is better than none.
func (g *Group) mayEject(b *backend) bool {
	return b.ejected.IsZero() && slices.ContainsFunc(g.backends, func(other *backend) bool {
		return other != b && other.ejected.IsZero()
	})
}

// readmit lets b in again, unless it has come back by itself meanwhile.
func (g *Group) readmit(b *backend, until time.Time) {
	g.mu.Lock()
	back := b.ejected.Equal(until)
	if back {
		g.restore(b)
	}
	g.mu.Unlock()
	if back {
		g.cfg.Logger.Info("backend readmitted", zap.String("upstream", g.cfg.Name), zap.String("backend", b.Addr))
	}
}

// answered ends what is held against b once it has answered a request that was sent since. Earlier ones prove
// nothing: they may have been under way in a process that takes no more.
func (g *Group) answered(b *backend, sent time.Time) {
	if !b.ailing.Load() {
		return
	}
	g.mu.Lock()
	since := b.since
	back := b.ailing.Load() && !sent.Before(since)
	if back {
		g.restore(b)
	}
	g.mu.Unlock()
	if back {
		g.cfg.Logger.Info("backend up", zap.String("upstream", g.cfg.Name), zap.String("backend", b.Addr),
			zap.Duration("after", time.Since(since)))
	}
}

// restore has b in use again. Requests may have been waiting for just that. The caller holds the lock.
func (g *Group) restore(b *backend) {
	b.ejected, b.down = time.Time{}, false
	b.ailing.Store(false)
	g.dispatch()
}

// forget drops the failures before the window. The caller holds the group's lock.
func (b *backend) forget(before time.Time) {
	kept := slices.IndexFunc(b.failures, before.Before)
	if kept < 0 {
		kept = len(b.failures)
	}
	b.failures = slices.Delete(b.failures, 0, kept)
}
