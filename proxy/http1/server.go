package http1

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound what a client can make a connection hold. A zero field means the default named with it.
type Limits struct {
	// HeaderBytes is the size of the head of a request, from its first byte to the empty line. Zero means 64 KiB.
	// Beyond it the answer is 431.
	HeaderBytes int
	// HeaderLines is how many fields a head may have. Zero means 128. Beyond it the answer is 431.
	HeaderLines int
	// HeaderTimeout is how long a head may take from its first byte, or from the start of the connection for the
	// first one. Zero means 10 s. The connection is closed then.
	HeaderTimeout time.Duration
	// IdleTimeout is how long a connection is kept without a request. Zero means 75 s.
	IdleTimeout time.Duration
	// UnreadTimeout is how long the rest of a body that the handler did not want may take to come, before the
	// connection is closed instead of kept. Zero means 10 s.
	UnreadTimeout time.Duration
}

func (l Limits) withDefaults() Limits {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	orInt(&l.HeaderBytes, 64<<10)
	orInt(&l.HeaderLines, 128)
	orTime(&l.HeaderTimeout, 10*time.Second)
	orTime(&l.IdleTimeout, 75*time.Second)
	orTime(&l.UnreadTimeout, 10*time.Second)
	return l
}

// Config is what a Server is made of.
type Config struct {
	// Handler answers the requests. It may panic with http.ErrAbortHandler; another panic is not caught.
	Handler http.Handler
	// Limits is asked before each request, so that they can change while the server runs. Nil means the defaults.
	Limits func() Limits
	// Refused is told of each request that was answered without the handler, as its head is at fault. Nil means nobody
	// is told.
	Refused func(conn net.Conn, err *Error)
}

// Server serves connections that are given to it. Its methods may be called concurrently.
type Server struct {
	handler  http.Handler
	limits   func() Limits
	refused  func(net.Conn, *Error)
	draining atomic.Bool

	mu    sync.Mutex // guards conns and empty
	conns map[*conn]struct{}
	empty chan struct{} // closed when the last connection has ended; nil unless somebody waits for that
}

// New returns a Server without connections.
func New(cfg Config) *Server {
	s := &Server{handler: cfg.Handler, limits: cfg.Limits, refused: cfg.Refused, conns: make(map[*conn]struct{})}
	if s.limits == nil {
		s.limits = func() Limits { return Limits{} }
	}
	if s.refused == nil {
		s.refused = func(net.Conn, *Error) {}
	}
	return s
}

// Serve answers the requests that come on nc, one after the other, and returns when nc is closed or a handler has
// taken it over. The handshake of a TLS connection is over before.
func (s *Server) Serve(nc net.Conn) {
	c := newConn(s, nc)
	s.add(c)
	defer s.remove(c)
	c.serve()
}

func (s *Server) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if len(s.conns) == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// Shutdown ends idle connections at once and the others after the answer under way, and returns when none is left. When
// ctx ends before that, it closes those that are left and returns the context's error. A connection that is given to
// Serve afterwards is good for one request.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	ended := s.hurry()
	if ended == nil {
		return nil
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.nc.Close()
	}
	return ctx.Err()
}

// hurry wakes the connections that wait for a request and returns what is closed when all have ended; nil means now.
func (s *Server) hurry() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == 0 {
		return nil
	}
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	for c := range s.conns {
		c.hurry()
	}
	return s.empty
}
