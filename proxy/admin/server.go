// Package admin is the control listener of a running gateway and the client that talks to it.
//
// It speaks HTTP on a unix socket, whose permissions guard it, or on TCP, where every call needs a token:
//
//	GET  /healthz   200 while the gateway runs
//	GET  /metrics   Prometheus' text format
//	GET  /status    the gateway's account of itself as JSON
//	POST /reload    204 when the new configuration serves; 422 with the reasons as text when it was refused
package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Config describes the control listener. All fields but Token and Logger are required.
type Config struct {
	// Network is "unix" or "tcp".
	Network string
	// Address is the path of the socket, or host:port. The socket is made with mode 0600, its directory
	// with 0700 if it is missing.
	Address string
	// Token is what a caller must send as a bearer token. It is required on tcp, and optional on unix.
	Token string
	// Metrics answers GET /metrics.
	Metrics http.Handler
	// Reload is called by POST /reload, possibly by several calls at once. Its error is the refusal that
	// the operator reads, word for word.
	Reload func() error
	// Status is called by GET /status; its result is sent as JSON.
	Status func() any
	// Logger hears of reloads asked for and of calls refused. Nil means silence.
	Logger *zap.Logger
}

// Server is a control listener that is bound already.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// New checks cfg and binds the listener. A socket that a dead process left behind is replaced; one that
// somebody answers on is an error wrapping ErrInUse.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	listener, err := listen(cfg.Network, cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	return &Server{
		listener: listener,
		http: &http.Server{
			Handler:           newHandler(cfg),
			ReadHeaderTimeout: 5 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          zap.NewStdLog(cfg.Logger),
		},
	}, nil
}

func (cfg Config) check() error {
	switch {
	case cfg.Network != "unix" && cfg.Network != "tcp":
		return fmt.Errorf("admin: unknown network %q; want unix or tcp", cfg.Network)
	case cfg.Network == "tcp" && cfg.Token == "":
		return fmt.Errorf("admin: %s can be reached by others; want admin_token, or a unix socket", cfg.Address)
	case cfg.Metrics == nil || cfg.Reload == nil || cfg.Status == nil:
		return errors.New("admin: Metrics, Reload and Status are required")
	}
	return nil
}

// Addr returns the address it is bound to.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Shutdown, and then returns nil.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// Shutdown stops listening, removes the socket and waits for calls under way until ctx ends. It also ends
// a Server that never served.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if closeErr := s.listener.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
}
