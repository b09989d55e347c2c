package proxy

import (
	"bytes"
	"context"
	stdlog "log"
	"net"
	"net/http"
	"sync"

	"go.uber.org/zap"

	"gateway/conf"
)

// http2Server is net/http's server, given connections whose client has chosen HTTP/2.
type http2Server struct {
	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	addr   net.Addr
}

func (g *Gateway) http2Server(limits conf.Limits, addr net.Addr) *http2Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	return &http2Server{
		conns: make(chan net.Conn), closed: make(chan struct{}), addr: addr,
		server: &http.Server{
			Handler:           g,
			Protocols:         protocols,
			ReadHeaderTimeout: limits.HeaderTimeout,
			IdleTimeout:       limits.IdleTimeout,
			MaxHeaderBytes:    int(limits.HeaderBytes),
			ErrorLog:          stdlog.New(serverLog{g}, "", 0),
		},
	}
}

// serve returns when the server is drained.
func (s *http2Server) serve() {
	// It ends with http.ErrServerClosed: Accept fails only when drain has begun.
	_ = s.server.Serve(s)
}

// drain asks the clients to send no more and waits for the requests under way, at most as long as ctx; what is left
// then is cut off.
func (s *http2Server) drain(ctx context.Context) {
	_ = s.Close()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
}

// give hands nc over, unless the server has ended.
func (s *http2Server) give(nc net.Conn) bool {
	select {
	case s.conns <- nc:
		return true
	case <-s.closed:
		return false
	}
}

// Accept returns the next connection that was given. It, Close and Addr make a net.Listener.
func (s *http2Server) Accept() (net.Conn, error) {
	select {
	case nc := <-s.conns:
		return nc, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (s *http2Server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// Addr returns the address of the listener behind it.
func (s *http2Server) Addr() net.Addr { return s.addr }

// serverLog passes on what net/http has to say, to the log that is current then.
type serverLog struct{ gateway *Gateway }

func (l serverLog) Write(p []byte) (int, error) {
	l.gateway.log().Info("http server", zap.ByteString("said", bytes.TrimSpace(p)))
	return len(p), nil
}
