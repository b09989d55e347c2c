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

	mu      sync.Mutex // guards what follows
	conns   []*conn    // the oldest first
	timer   *time.Timer
	ticking bool // the timer will look at the oldest no later than it is due
	closed  bool
}

// take returns the connection that has been idle for longest, which most likely has a worker that is done with
// what it does after END_REQUEST; nil if there is none.
func (p *idlePool) take() *conn {
	for {
		c := p.pop()
		if c == nil || c.silent() {
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

// push reports whether c was kept.
func (p *idlePool) push(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= p.max {
		return false
	}
	c.reused, c.since = true, time.Now()
	p.conns = append(p.conns, c)
	if !p.ticking {
		p.tick(p.timeout)
	}
	return true
}

// tick has expire called after d. One timer for all, which runs on while connections come and go, is hardly ever moved;
// one for each would be moved twice for every request. The caller holds mu.
func (p *idlePool) tick(d time.Duration) {
	p.ticking = true
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.expire)
		return
	}
	p.timer.Reset(d)
}

// expire closes what has been idle for too long.
func (p *idlePool) expire() {
	p.mu.Lock()
	now := time.Now()
	due := 0
	for due < len(p.conns) && now.Sub(p.conns[due].since) >= p.timeout {
		due++
	}
	expired := slices.Clone(p.conns[:due])
	p.conns = slices.Delete(p.conns, 0, due)
	if p.ticking = len(p.conns) > 0; p.ticking {
		p.tick(p.timeout - now.Sub(p.conns[0].since))
	}
	p.mu.Unlock()
	closeAll(expired)
}

// clear closes what is idle now.
func (p *idlePool) clear() {
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	closeAll(conns)
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.Close()
	}
}

// close is clear, and keeps nothing from then on.
func (p *idlePool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.clear()
}
