package http1

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// watchAfter is how long a request goes unwatched. Most are answered by then, and cost no goroutine.
const watchAfter = 10 * time.Millisecond

var past = time.Unix(1, 0)

// watch notices that the client leaves while its request is being answered, by reading from the connection: what comes
// instead is the next request and goes to the input.
type watch struct {
	conn  *conn
	timer *time.Timer // nil before the first request

	mu       sync.Mutex // guards what follows
	phase    watchPhase
	cancel   context.CancelFunc // of the request
	stopping bool
	deadline bool          // the handler has set one for reading, which stays
	ended    chan struct{} // closed when the reading has
}

type watchPhase int

const (
	unwatched watchPhase = iota
	armed                // the timer runs
	reading
)

// begin is the begin of a request. It is watched from arm on.
func (w *watch) begin(cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.stopping, w.deadline = cancel, false, false
}

// arm starts to watch, soon. Nothing else of the request is left to be read.
func (w *watch) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase != unwatched || w.stopping {
		return
	}
	w.phase = armed
	if w.timer == nil {
		w.timer = time.AfterFunc(watchAfter, w.fire)
	} else {
		w.timer.Reset(watchAfter)
	}
}

// fire runs when the time is over.
func (w *watch) fire() {
	w.mu.Lock()
	if w.phase != armed {
		w.mu.Unlock()
		return
	}
	w.phase, w.ended = reading, make(chan struct{})
	if !w.deadline {
		w.conn.deadline.set(time.Time{}) // off with the one of the wait for this request
	}
	w.mu.Unlock()
	w.read()
}

func (w *watch) read() {
	err := w.conn.in.more(watchedSize)
	w.mu.Lock()
	defer w.mu.Unlock()
	ours := w.stopping && os.IsTimeout(err)
	if err != nil && err != io.ErrShortBuffer && !ours {
		w.cancel()
	}
	close(w.ended)
}

// watchedSize bounds what a client can send ahead of an answer before it is left in the socket.
const watchedSize = inputSize

// stop ends the watching; afterwards the input is the caller's again.
func (w *watch) stop() {
	w.mu.Lock()
	w.stopping = true
	phase := w.phase
	w.phase = unwatched
	if phase == armed {
		w.timer.Stop()
	}
	w.mu.Unlock()
	if phase != reading {
		return
	}
	w.conn.deadline.set(past)
	<-w.ended
	w.conn.deadline.set(time.Time{})
}

// setDeadline is the handler's for reading. One that has passed ends the request, as reading fails then.
func (w *watch) setDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopping {
		return nil // the answer is over, and the connection no longer the handler's
	}
	w.deadline = true
	return w.conn.deadline.set(t)
}

// deadline is the one for reading from a connection.
type deadline struct {
	nc net.Conn
	at time.Time
}

func (d *deadline) set(t time.Time) error {
	d.at = t
	return d.nc.SetReadDeadline(t)
}

// near sets it to t, unless it is at most a 64th of the wait before that: to move it is not free.
func (d *deadline) near(t time.Time, wait time.Duration) {
	if early := t.Sub(d.at); early < 0 || early > wait/64 {
		// The connection that refuses a deadline is closed, and reading from it says so.
		_ = d.set(t)
	}
}
