package fastcgi

import (
	"slices"
	"sync"
	"time"
)

// idlePool keeps connections between requests. An idle connection still holds its FPM worker.
type idlePool struct {
	max     int
	timeout time.Duration

	mu     sync.Mutex // guards conns and closed
	conns  []*conn    // the oldest first
	closed bool
}

// take returns the connection that has been idle for longest, which most likely has a worker that is done with
// what it does after END_REQUEST; nil if there is none.
func (p *idlePool) take() *conn {
	for {
		c := p.pop()
		if c == nil {
			return nil
		}
		c.timer.Stop()
		if c.silent() {
			return c
		}
		c.Close()
	}
}

func (p *idlePool) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) == 0 {
		return nil
	}
	c := p.conns[0]
	p.conns = slices.Delete(p.conns, 0, 1)
	return c
}

// put keeps c, or closes it when there is no room.
func (p *idlePool) put(c *conn) {
	if !p.push(c) {
		c.Close()
	}
}

// push reports whether c was kept. Its timer only takes away what it finds idle, so one that comes late is harmless.
func (p *idlePool) push(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= p.max {
		return false
	}
	c.reused, c.since = true, time.Now()
	if c.timer == nil {
		c.timer = time.AfterFunc(p.timeout, func() { p.expire(c) })
	} else {
		c.timer.Reset(p.timeout)
	}
	p.conns = append(p.conns, c)
	return true
}

// expire closes c unless a request has taken it.
func (p *idlePool) expire(c *conn) {
	p.mu.Lock()
	i := slices.Index(p.conns, c)
	if i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		c.Close()
	}
}

// clear closes what is idle now.
func (p *idlePool) clear() {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for _, c := range conns {
		c.timer.Stop()
		c.Close()
	}
}

// close is clear, and keeps nothing from then on.
func (p *idlePool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.clear()
}
