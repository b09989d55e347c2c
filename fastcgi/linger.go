package fastcgi

import "sync"

// lingerers are the calls whose workers are waited for after their clients have left.
type lingerers struct {
	mu     sync.Mutex // guards calls and closed
	calls  map[*call]struct{}
	closed bool
	wg     sync.WaitGroup
}

// add starts to wait for the worker of c, unless close was called before.
func (l *lingerers) add(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.calls == nil {
		l.calls = make(map[*call]struct{})
	}
	l.calls[c] = struct{}{}
	l.wg.Go(func() {
		c.linger()
		l.mu.Lock()
		delete(l.calls, c)
		l.mu.Unlock()
	})
	return true
}

func (l *lingerers) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// close ends all waiting.
func (l *lingerers) close() {
	l.mu.Lock()
	l.closed = true
	for c := range l.calls {
		c.conn.Close()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// linger reads until the script shows that it is over, by its end or by an output that closing the connection will
// make fail, but not for longer than the first byte may take. Output is only thrown away while the body is still
// being sent: closing then would give the script half of it.
func (c *call) linger() {
	var buf [512]byte
	for {
		if _, err := c.conn.Read(buf[:]); err != nil {
			break
		}
		c.mu.Lock()
		sending := c.sending
		c.mu.Unlock()
		if !sending {
			break
		}
	}
	c.endLinger()
}

func (c *call) endLinger() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.conn.Close()
	if c.sent != nil {
		<-c.sent
	}
	c.release()
}
