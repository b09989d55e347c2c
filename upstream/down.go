package upstream

import (
	"fmt"
	"time"
)

// silent reports whether b has failed too often since it last answered. The caller holds the group's lock.
func (b *backend) silent(cfg Config) bool {
	return b.row >= cfg.EjectAfter && b.served.Load() == b.servedBefore
}

// deaf reports whether nothing is to be expected of any backend: each is kept out or silent. The caller holds the lock.
func (g *Group) deaf() bool {
	for _, b := range g.backends {
		if b.ejected.IsZero() && !b.silent(g.cfg) {
			return false
		}
	}
	return true
}

// turnsAway reports whether a request that has somewhere else to go is sent there untried. As long as the group is
// deaf, one every EjectFor is not, to find out whether it still is: it may have to wait as long as a dial takes. The
// caller holds the lock.
func (g *Group) turnsAway() bool {
	if !g.deaf() {
		return false
	}
	now := time.Now()
	if now.Before(g.retry) {
		return true
	}
	g.retry = now.Add(g.cfg.EjectFor)
	return false
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
