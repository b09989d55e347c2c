package upstream

import (
	"fmt"
	"time"
)

// Down reports whether no backend is worth a try now: each is kept out, or would be if it were not the last.
// One that has answered since its last failure is up, and after EjectFor each is worth a try again.
func (g *Group) Down() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.downAt(time.Now())
}

// downAt is Down for whoever holds the lock.
func (g *Group) downAt(now time.Time) bool {
	for _, b := range g.backends {
		if b.ejected.IsZero() && !b.failing(g.cfg, now) {
			return false
		}
	}
	return true
}

// failing reports whether b has failed too often, lately, and not answered in between or since. The caller holds
// the group's lock.
func (b *backend) failing(cfg Config, now time.Time) bool {
	return b.row >= cfg.EjectAfter && b.served.Load() == b.servedBefore && now.Sub(b.failedAt) < cfg.EjectFor
}

// sendAway ends the wait of those who have somewhere else to go. The caller holds the lock.
func (g *Group) sendAway() {
	var next *waiter
	for w := g.queue.first; w != nil; w = next {
		if next = w.next; w.leaves {
			g.dismiss(w, g.unreachable())
		}
	}
}

// unreachable is the answer to a request that found the group down. The caller holds the lock.
func (g *Group) unreachable() *Error { return g.cause.unreachable() }

// unreachable is e as the reason for which a whole group is given up.
func (e *Error) unreachable() *Error {
	all := *e
	all.Err, all.safe = fmt.Errorf("%w: %w", ErrUnreachable, e.Err), true
	return &all
}
