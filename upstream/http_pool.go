package upstream

import "time"

// takeIdle returns the connection that was used last, if it is still good, so that the rest can expire. One that
// the backend has closed meanwhile is not a failure: the next is tried, or a new one made.
func (h *HTTP) takeIdle() *conn {
	for {
		h.mu.Lock()
		last := len(h.idle) - 1
		if last < 0 {
			h.mu.Unlock()
			return nil
		}
		c := h.idle[last]
		h.idle[last] = nil
		h.idle = h.idle[:last]
		h.mu.Unlock()
		if c.isQuiet() {
			return c
		}
		c.closeNow()
	}
}

// keep puts c among the idle, or closes it when there are enough.
func (h *HTTP) keep(c *conn) {
	c.idleSince = time.Now()
	h.mu.Lock()
	kept := !h.closed && len(h.idle) < h.cfg.MaxIdle
	if kept {
		h.idle = append(h.idle, c)
		if len(h.idle) == 1 {
			h.expireAfter(h.cfg.IdleTimeout)
		}
	}
	h.mu.Unlock()
	if !kept {
		c.closeNow()
	}
}

// expireAfter arranges for the longest unused connection to be closed. The caller holds the lock.
func (h *HTTP) expireAfter(d time.Duration) {
	if h.expiry == nil {
		h.expiry = time.AfterFunc(d, h.expire)
		return
	}
	h.expiry.Reset(d)
}

// expire closes the connections that were unused for too long.
func (h *HTTP) expire() {
	now := time.Now()
	h.mu.Lock()
	old := 0
	for old < len(h.idle) && now.Sub(h.idle[old].idleSince) >= h.cfg.IdleTimeout {
		old++
	}
	expired := append([]*conn(nil), h.idle[:old]...)
	rest := copy(h.idle, h.idle[old:])
	clear(h.idle[rest:])
	h.idle = h.idle[:rest]
	if rest > 0 {
		h.expireAfter(h.cfg.IdleTimeout - now.Sub(h.idle[0].idleSince))
	}
	h.mu.Unlock()
	closeAll(expired)
}

// CloseIdle closes the connections that are not in use.
func (h *HTTP) CloseIdle() {
	h.mu.Lock()
	idle := h.idle
	h.idle = nil
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.mu.Unlock()
	closeAll(idle)
}

// Close closes the connections that are not in use, and keeps none from then on. Those in use are closed with
// their responses.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.CloseIdle()
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.closeNow()
	}
}
