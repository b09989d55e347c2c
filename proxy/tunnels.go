package proxy

import "sync"

// tunnels are the upgraded connections that are open. They outlive a reload; closeAll ends them.
type tunnels struct {
	mu   sync.Mutex // guards open and closed
	open map[*tunnel]struct{}
	// closed is set when no tunnel may open any more, and closed itself when the last one has ended.
	closed chan struct{}
}

// add notes t until the function it returns is called.
func (ts *tunnels) add(t *tunnel) (remove func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed != nil {
		t.close()
	}
	if ts.open == nil {
		ts.open = make(map[*tunnel]struct{})
	}
	ts.open[t] = struct{}{}
	return func() { ts.remove(t) }
}

func (ts *tunnels) remove(t *tunnel) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.open, t)
	if ts.closed != nil && len(ts.open) == 0 {
		ts.close()
	}
}

// close is called with mu held, perhaps again for a tunnel that came late.
func (ts *tunnels) close() {
	select {
	case <-ts.closed:
	default:
		close(ts.closed)
	}
}

// closeStreams ends those whose request is still under way, and would be waited for with all the others.
func (ts *tunnels) closeStreams() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := range ts.open {
		if t.stream {
			t.close()
		}
	}
}

// closeAll ends all tunnels and returns what is closed once they have ended.
func (ts *tunnels) closeAll() <-chan struct{} {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.closed = make(chan struct{})
	for t := range ts.open {
		t.close()
	}
	if len(ts.open) == 0 {
		ts.close()
	}
	return ts.closed
}

func (ts *tunnels) count() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.open)
}
