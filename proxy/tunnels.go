package proxy

import "sync"

// tunnels are the upgraded connections that are open. They outlive a reload; closeAll ends them.
type tunnels struct {
	mu   sync.Mutex // guards open and closed
	open map[*tunnel]struct{}
	// closed is set when no tunnel may open any more.
	closed bool
}

// add notes t until the function it returns is called.
func (ts *tunnels) add(t *tunnel) (remove func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed {
		t.close()
	}
	if ts.open == nil {
		ts.open = make(map[*tunnel]struct{})
	}
	ts.open[t] = struct{}{}
	return func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		delete(ts.open, t)
	}
}

func (ts *tunnels) closeAll() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.closed = true
	for t := range ts.open {
		t.close()
	}
}

func (ts *tunnels) count() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.open)
}
