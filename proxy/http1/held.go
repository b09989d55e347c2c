package http1

import "sync"

// heldSize is how much of a body may wait for its end before the client is told that its length is not known.
const heldSize = 2 << 10

// held is the beginning of a body whose end may be near.
type held struct {
	n   int
	buf [heldSize]byte
}

var helds = sync.Pool{New: func() any { return new(held) }}

// hold takes p, if there is room for it.
func (w *response) hold(p []byte) bool {
	if len(p) == 0 {
		return true
	}
	if w.held.len()+len(p) > heldSize {
		return false
	}
	if w.held == nil {
		w.held = helds.Get().(*held)
		w.held.n = 0
	}
	w.held.n += copy(w.held.buf[w.held.n:], p)
	return true
}

func (h *held) len() int {
	if h == nil {
		return 0
	}
	return h.n
}

func (h *held) free() {
	if h != nil {
		helds.Put(h)
	}
}
