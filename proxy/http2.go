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
	_ "gateway/proxy/xconnect" // WebSockets over HTTP/2
)

// http2Server is net/http's server, given connections whose client has chosen HTTP/2.
type http2Server struct {
	gateway *Gateway
	server  *http.Server
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
	addr    net.Addr
}

func (g *Gateway) http2Server(limits conf.Limits, addr net.Addr) *http2Server {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	s := &http2Server{gateway: g, conns: make(chan net.Conn), closed: make(chan struct{}), addr: addr}
	s.server = &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: limits.HeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    int(limits.HeaderBytes),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: limits.StreamsPerConnection,
			MaxReadFrameSize:     16 << 10, // what every client may send; more would be held for each connection
			// A client that reads nothing at all. One that reads, but not a certain answer, meets the deadline of that.
			WriteByteTimeout: writeTimeout,
		},
		ConnContext: withHTTP2Conn,
		ErrorLog:    stdlog.New(serverLog{g}, "", 0),
	}
	return s
}

type http2ConnKey struct{}

func withHTTP2Conn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, http2ConnKey{}, nc)
}

// ServeHTTP puts back what the request is told by its connection, since net/http knows nothing of its TLS. What the client
// wrote for :scheme is not believed. The protocol of an extended CONNECT is no header.
func (s *http2Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(http2ConnKey{}).(*http2Conn); ok {
		r.TLS = c.tls
	}
	if protocol := r.Header[":protocol"]; protocol != nil {
		r.Proto = protocol[0]
		delete(r.Header, ":protocol")
	}
	s.gateway.ServeHTTP(w, r)
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

// give hands c over, unless the server has ended.
func (s *http2Server) give(c *http2Conn) bool {
	select {
	case s.conns <- c:
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
