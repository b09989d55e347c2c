package upstream

import "time"

// One timer serves all who wait: setting one for each costs more than all else that waiting takes. It runs at the
// earliest deadline or before, never after. Who leaves in time does not touch it, so now and then it finds nothing
// to do, once per Config.QueueWait at most.

// expireBy arranges for the queue to be looked through at deadline. The caller holds the lock.
func (g *Group) expireBy(deadline time.Time) {
	if !g.expiry.IsZero() && !deadline.Before(g.expiry) {
		return
	}
	g.expiry = deadline
	if g.timer == nil {
		g.timer = time.AfterFunc(time.Until(deadline), g.expire)
		return
	}
	g.timer.Reset(time.Until(deadline))
}

// expire sends those away who have waited for too long.
func (g *Group) expire() {
	now := time.Now()
	g.mu.Lock()
	g.expiry = time.Time{}
	var next *waiter
	for w := g.queue.first; w != nil; w = next {
		next = w.next
		if !w.deadline.After(now) {
			g.dismiss(w, g.late())
			continue
		}
		g.expireBy(w.deadline)
		if !w.extended {
			break // all others have arrived later
		}
	}
	rest := g.rest()
	g.mu.Unlock()
	g.settle(rest)
}

// dismiss ends the wait of w with err. The caller holds the lock.
func (g *Group) dismiss(w *waiter, err error) {
	g.queue.remove(w)
	w.ready <- turn{err: err}
}

// late is the answer to a request that has waited for too long. It is told what it has waited for: its turn, or a
// backend that answers. The caller holds the lock.
func (g *Group) late() *Error {
	if g.deaf() {
		return g.unreachable()
	}
	return g.busy(ErrQueueTimeout)
}
