package fastcgi

// A call ends in one of three ways: finish, after END_REQUEST; drop, when its connection is of no more use; and
// abandon, when nobody wants the answer of a script that may still be running.

// finish lets go of the connection at END_REQUEST, even if what came before it is still to be read.
func (c *call) finish() {
	if c.end() {
		c.leave(c.t.idle.max > 0 && c.whole && !c.stream.tail)
	}
}

// drop closes the connection.
func (c *call) drop() {
	if c.end() {
		c.leave(false)
	}
}

// end stops what goes on for the call, waits for the sender, and reports whether it was the first to do so.
func (c *call) end() bool {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return false
	}
	c.over, c.stopped = true, true
	if c.sending {
		c.conn.interruptWrite()
	}
	c.mu.Unlock()
	c.unwatch()
	if c.sent != nil {
		<-c.sent
	}
	return true
}

// leave keeps or closes the connection. Nothing else uses it, or the call's state, by now.
func (c *call) leave(keep bool) {
	if keep {
		c.t.idle.put(c.conn)
	} else {
		c.conn.Close()
	}
	c.release()
}

// abandon gives the answer up. FPM neither learns of it nor stops the script, so the connection lingers until
// the script shows that it is over.
func (c *call) abandon() {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.over = true
	c.conn.readWithin(c.readTimeout())
	c.mu.Unlock()
	c.unwatch()
	if c.t.lingering.add(c) {
		return
	}
	c.endLinger()
}

func (c *call) unwatch() {
	if c.stop != nil {
		c.stop()
	}
}

// release says that the worker is not ours any more.
func (c *call) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = true
	if c.released != nil {
		close(c.released)
	}
}

// Released is closed once the worker is not ours any more.
func (c *call) Released() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free {
		return released
	}
	if c.released == nil {
		c.released = make(chan struct{})
	}
	return c.released
}
