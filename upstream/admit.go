package upstream

import (
	"context"
	"errors"
	"slices"
)

// A free slot and a request that would take it never wait for each other: whoever frees a slot, or brings a
// backend back, hands it to the oldest waiter before letting go of the lock. So a newcomer that finds the queue
// empty may help itself, and one that does not goes to its end.

// acquire takes a slot for w, waiting for it where it must.
func (g *Group) acquire(ctx context.Context, w *waiter) (*backend, error) {
	g.mu.Lock()
	if w.leaves && g.turnsAway() {
		defer g.mu.Unlock()
		return nil, g.unreachable()
	}
	if g.queue.length == 0 {
		if b := g.claim(w); b != nil {
			g.mu.Unlock()
			return b, nil
		}
	}
	if g.queue.length >= g.cfg.QueueLength {
		g.mu.Unlock()
		return nil, g.busy(ErrQueueFull)
	}
	g.join(w)
	g.mu.Unlock()
	return g.wait(ctx, w)
}

// exchange gives a slot of from back and takes one of another backend, or the same again when there is no
// other. It is one step, so that nobody who came later gets in between. A nil from gives nothing back.
func (g *Group) exchange(ctx context.Context, from *backend, w *waiter) (*backend, error) {
	g.mu.Lock()
	if from != nil {
		from.inFlight--
		g.inFlight--
	}
	g.join(w)
	rest := g.rest()
	g.mu.Unlock()
	g.settle(rest)
	return g.wait(ctx, w)
}

// release gives a slot of b back.
func (g *Group) release(b *backend) {
	g.mu.Lock()
	b.inFlight--
	g.inFlight--
	g.dispatch()
	rest := g.rest()
	g.mu.Unlock()
	g.settle(rest)
}

// releaseAfter gives the slot back as soon as the backend has stopped working on what v, a body or an error,
// came from.
func (g *Group) releaseAfter(b *backend, v any) {
	released := releasedBy(v)
	if released == nil {
		g.release(b)
		return
	}
	go func() {
		<-released
		g.release(b)
	}()
}

// worker is what knows whether a backend has stopped working on a request.
type worker interface{ Released() <-chan struct{} }

// releasedBy returns what to wait for, or nil when there is nothing to wait for.
func releasedBy(v any) <-chan struct{} {
	switch v := v.(type) {
	case error:
		var w worker
		if errors.As(v, &w) {
			return pending(w)
		}
	case worker:
		return pending(v)
	}
	return nil
}

func pending(w worker) <-chan struct{} {
	released := w.Released()
	select {
	case <-released:
		return nil
	default:
		return released
	}
}

// claim takes a slot of the backend that the policy prefers, or returns nil when none is free. The caller
// holds the lock.
func (g *Group) claim(w *waiter) *backend {
	candidates := g.candidates(w.avoid, false)
	if len(candidates) == 0 && w.strays && !g.hasOther(w.avoid) {
		candidates = g.candidates(w.avoid, true)
	}
	if len(candidates) == 0 && len(w.avoid) > 0 && !(w.insists && g.hasOther(w.avoid)) {
		candidates = g.candidates(nil, false)
	}
	if len(candidates) == 0 {
		return nil
	}
	b := candidates[0] // most groups have but one
	if len(candidates) > 1 {
		b = g.policy.pick(w.key, candidates)
	}
	b.inFlight++
	g.inFlight++
	return b
}

// candidates returns the backends with a free slot, without those to avoid: those that are in, or those that are kept
// out. It is good until the next call.
func (g *Group) candidates(avoid []*backend, out bool) []*backend {
	free := g.free[:0]
	for _, b := range g.backends {
		if b.ejected.IsZero() != out && (b.MaxInFlight == 0 || b.inFlight < b.MaxInFlight) && !slices.Contains(avoid, b) {
			free = append(free, b)
		}
	}
	return free
}

// hasOther reports whether a backend is in that is not to be avoided, be it with a free slot or without.
func (g *Group) hasOther(avoid []*backend) bool {
	return slices.ContainsFunc(g.backends, func(b *backend) bool {
		return b.ejected.IsZero() && !slices.Contains(avoid, b)
	})
}

// dispatch hands free slots to those who wait, the oldest first. Who insists on another backend than those that
// have one free is passed over. The caller holds the lock.
func (g *Group) dispatch() {
	var next *waiter
	for w := g.queue.first; w != nil; w = next {
		next = w.next
		b := g.claim(w)
		if b == nil && !w.insists {
			return
		}
		if b != nil {
			g.queue.remove(w)
			w.ready <- turn{b: b} // never blocks: it has room for one, and a queued waiter has none
		}
	}
}

// join puts w in the queue, and serves it at once where that can be: those before it may all be waiting for another
// backend than one that has a slot free. The caller holds the lock.
func (g *Group) join(w *waiter) {
	if w.ready == nil {
		w.ready = make(chan turn, 1)
	}
	g.queue.insert(w)
	g.expireBy(w.deadline)
	g.dispatch()
	if w.queued && w.leaves && g.deaf() {
		g.dismiss(w, g.unreachable())
	}
}

// wait returns the backend whose slot was taken for w.
func (g *Group) wait(ctx context.Context, w *waiter) (*backend, error) {
	select {
	case t := <-w.ready:
		return t.b, t.err
	default:
	}
	select {
	case t := <-w.ready:
		return t.b, t.err
	case <-ctx.Done():
		g.leave(w)
		return nil, g.gone(ctx, "queue")
	}
}

// leave is how a waiter gives up, which may be in the very moment in which its turn comes.
func (g *Group) leave(w *waiter) {
	g.mu.Lock()
	if !w.queued {
		g.mu.Unlock()
		if t := <-w.ready; t.b != nil {
			g.release(t.b)
		}
		return
	}
	g.queue.remove(w)
	rest := g.rest()
	g.mu.Unlock()
	g.settle(rest)
}

// busy is the answer to a request that there is no room for. Everyone who waits now will have been served, or
// have left, once QueueWait is over.
func (g *Group) busy(err error) *Error {
	return &Error{Op: "queue", Group: g.cfg.Name, Blame: Gateway, Err: err, later: g.cfg.QueueWait}
}

// gone is the end of a request whose context has ended.
func (g *Group) gone(ctx context.Context, op string) *Error {
	e := &Error{Op: op, Group: g.cfg.Name, Blame: Client, Err: context.Cause(ctx)}
	if ctx.Err() == context.DeadlineExceeded {
		// Whoever sets a deadline is on our side of the connection.
		e.Blame = Gateway
	}
	return e
}
