// Package fcgitest is a FastCGI responder that does what a test's script says, right or wrong.
package fcgitest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Responder listens on a socket of its own and answers each request with a script.
type Responder struct {
	// Listener may be replaced between NewUnstarted and Start. The default is a unix socket.
	Listener net.Listener

	t    testing.TB
	stop chan struct{} // closed by Close
	wg   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	scripts  [][]Step
	next     int // which script the next request gets
	requests []*Request
	conns    []net.Conn
	closed   bool
}

// New starts a responder that answers every request with script. It is closed when the test ends.
func New(t testing.TB, script ...Step) *Responder {
	t.Helper()
	r := NewUnstarted(t, script...)
	r.Start()
	return r
}

// NewUnstarted is New without Start.
func NewUnstarted(t testing.TB, script ...Step) *Responder {
	t.Helper()
	l, err := net.Listen("unix", socketPath(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &Responder{Listener: l, t: t, stop: make(chan struct{}), scripts: [][]Step{script}}
	t.Cleanup(r.Close)
	return r
}

// NewTCP is New on a port of 127.0.0.1.
func NewTCP(t testing.TB, script ...Step) *Responder {
	t.Helper()
	r := NewUnstarted(t, script...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.Listener.Close()
	r.Listener = l
	r.Start()
	return r
}

// socketPath is a path that is short enough for a unix socket, whatever the test is called.
func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fcgi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// Then adds the script of the request after those that have one. The last script answers all further ones.
func (r *Responder) Then(script ...Step) *Responder {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts = append(r.scripts, script)
	return r
}

// Start begins to accept connections.
func (r *Responder) Start() {
	r.wg.Go(func() {
		for {
			c, err := r.Listener.Accept()
			if err != nil {
				return
			}
			if n, ok := r.track(c); ok {
				r.wg.Go(func() { r.serve(c, n) })
			}
		}
	})
}

// track counts a connection, or closes one that came too late.
func (r *Responder) track(c net.Conn) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
		return 0, false
	}
	r.conns = append(r.conns, c)
	return len(r.conns) - 1, true
}

// Close stops the responder, cuts its connections and waits for all its scripts.
func (r *Responder) Close() {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	if first {
		close(r.stop)
	}
	r.Listener.Close()
	r.wg.Wait()
}

// Network is "unix" or "tcp".
func (r *Responder) Network() string { return r.Listener.Addr().Network() }

// Addr is the address to dial.
func (r *Responder) Addr() string { return r.Listener.Addr().String() }

// Requests returns the requests whose params have been read, in order of arrival.
func (r *Responder) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := make([]Request, len(r.requests))
	for i, req := range r.requests {
		requests[i] = *req
		requests[i].Stdin = slices.Clone(req.Stdin)
	}
	return requests
}

// Conns returns how many connections were accepted.
func (r *Responder) Conns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

// serve runs scripts on one connection until it, or a script, ends it.
func (r *Responder) serve(c net.Conn, n int) {
	defer c.Close()
	for {
		x := &exchange{r: r, conn: c, number: n}
		err := x.run()
		if errors.Is(err, errBroken) {
			r.t.Errorf("fcgitest: connection %d: %v", n, err)
		}
		if err != nil || !x.ended {
			return
		}
		if !x.req.Whole {
			x.awaitClose()
		}
		if !x.req.Whole || !x.req.KeepConn {
			return
		}
	}
}

// claim returns the script of the request that has just come.
func (r *Responder) claim() []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := min(r.next, len(r.scripts)-1)
	r.next++
	return r.scripts[i]
}
