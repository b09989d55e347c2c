package proxy

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"go.uber.org/zap"

	"gateway/conf"
)

// farewell is how long a client has to take the end of an answer and to go, once it was asked to.
const farewell = time.Second

// http3Server serves connections with the limits that were in force when they came.
type http3Server struct {
	from     *http3Listener
	server   *http3.Server
	limits   conf.Limits
	draining context.Context // ends when clients are asked to go
	ask      context.CancelFunc
}

func (h *http3Listener) server(limits conf.Limits) *http3Server {
	s := &http3Server{from: h, limits: limits}
	s.draining, s.ask = context.WithCancel(context.Background())
	s.server = &http3.Server{
		Handler:        s,
		MaxHeaderBytes: int(limits.HeaderBytes),
		ConnContext:    s.watch,
		Logger:         slog.New(slog.NewTextHandler(io.Discard, nil)), // of what clients do wrong; the record has the rest
	}
	return s
}

// serve returns when drain has begun, or the socket is closed.
func (s *http3Server) serve() { _ = s.server.ServeListener(s.from) }

// drain asks the clients to send no more (GOAWAY) and waits for the requests under way, at most as long as ctx.
func (s *http3Server) drain(ctx context.Context) {
	s.ask()
	_ = s.server.Shutdown(ctx)
}

// http3Conn ends its connection when no request is under way for too long. QUIC's own limit is another: any packet
// meets that, and a request whose head never ends would have a connection last for ever.
type http3Conn struct {
	conn    *quic.Conn
	refused func(error) // told why the connection is ended

	mu     sync.Mutex    // guards what follows
	wait   time.Duration // for the next request
	open   int           // requests under way, those too that the client has given up
	timer  *time.Timer
	resets bucket
}

type http3ConnKey struct{}

// watch begins with the time for a head, as over TCP.
func (s *http3Server) watch(ctx context.Context, conn *quic.Conn) context.Context {
	c := &http3Conn{
		conn: conn, wait: s.limits.IdleTimeout, resets: newResets(time.Now()),
		refused: func(fault error) {
			s.from.gateway.log().Info("connection refused", zap.Stringer("client", conn.RemoteAddr()), zap.Error(fault))
		},
	}
	c.timer = time.AfterFunc(s.limits.HeaderTimeout, c.expire)
	stop := context.AfterFunc(s.draining, c.goAway)
	context.AfterFunc(conn.Context(), func() {
		stop()
		c.timer.Stop()
	})
	return context.WithValue(ctx, http3ConnKey{}, c)
}

func (c *http3Conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	c.timer.Stop()
}

// end notes whether the client gave the request up, and says whether it did that too often.
func (c *http3Conn) end(abandoned bool) (tooOften bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 {
		c.timer.Reset(c.wait)
	}
	return abandoned && !c.resets.take(time.Now())
}

func (c *http3Conn) goAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait = farewell
	if c.open == 0 {
		c.timer.Reset(farewell)
	}
}

func (c *http3Conn) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == 0 {
		_ = c.conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	}
}

func (c *http3Conn) refuse() {
	if c.conn.Context().Err() == nil {
		c.refused(errResetFlood)
		_ = c.conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), errResetFlood.Error())
	}
}

// ServeHTTP gives the request an end of its own, for a client that takes no more.
func (s *http3Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(http3ConnKey{}).(*http3Conn)
	c.begin()
	defer func() {
		if c.end(r.Context().Err() != nil) {
			c.refuse()
		}
	}()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.from.gateway.ServeHTTP(&http3Writer{w, cancel}, r.WithContext(ctx))
}

// http3Writer ends the request when reading from its client is given up, as the other protocols do.
type http3Writer struct {
	http.ResponseWriter
	cancel context.CancelFunc
}

// Unwrap lets http.ResponseController reach the stream.
func (w *http3Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetReadDeadline bounds the wait for the body. One that has passed already gives the request up.
func (w *http3Writer) SetReadDeadline(deadline time.Time) error {
	if !deadline.IsZero() && deadline.Before(time.Now()) {
		w.cancel()
	}
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(deadline)
}
