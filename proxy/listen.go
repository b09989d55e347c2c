package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"

	"go.uber.org/zap"

	"gateway/conf"
)

// listener is one address that clients come to, and the servers of the connections that came.
type listener struct {
	at      conf.Listen
	limits  conf.Limits
	socket  *net.TCPListener
	servers []*http.Server // the last one accepts; those before it serve what they had accepted
	running sync.WaitGroup
}

// ListenError is an address that cannot be listened on, with what the operator can do about it.
type ListenError struct {
	Addr conf.Listen
	Err  error
	Hint string // may be empty
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen %s: %v", e.Addr, e.Err) }

// Unwrap returns the cause.
func (e *ListenError) Unwrap() error { return e.Err }

func bind(at conf.Listen) (*net.TCPListener, error) {
	socket, err := net.Listen("tcp", at.Addr)
	if err == nil {
		return socket.(*net.TCPListener), nil
	}
	failed := &ListenError{Addr: at, Err: err}
	var number syscall.Errno
	if errors.As(err, &number) {
		failed.Err = number
	}
	switch number {
	case syscall.EACCES:
		failed.Hint = "ports below 1024 are for root: grant the binary the right once with" +
			" `setcap cap_net_bind_service=+ep /path/to/gateway`, or set listen to a higher port, such as http://:8080"
	case syscall.EADDRINUSE:
		failed.Hint = "another process has this address, often nginx or an older gateway:" +
			" `ss -ltnp` names it; stop it, or set listen to another port"
	case syscall.EADDRNOTAVAIL:
		failed.Hint = "no interface of this machine has this address: `ip addr` lists those it has"
	}
	return nil, failed
}

// serve accepts with the limits of cfg from now on. Connections that an earlier server accepted stay
// with it, since http.Server cannot change its limits while it runs.
func (l *listener) serve(g *Gateway, limits conf.Limits) error {
	socket := l.socket
	if len(l.servers) > 0 {
		// A second descriptor of the same socket: its queue of new connections is never without an owner.
		file, err := l.socket.File()
		if err != nil {
			return err
		}
		defer file.Close()
		again, err := net.FileListener(file)
		if err != nil {
			return err
		}
		socket = again.(*net.TCPListener)
	}
	retired := l.socket
	server := g.server(limits)
	l.servers, l.socket, l.limits = append(l.servers, server), socket, limits
	l.running.Add(1)
	go func() {
		defer l.running.Done()
		if err := l.accept(server, g.front(l.at, socket)); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			g.log().Error("listener stopped", zap.Stringer("listen", l.at), zap.Error(err))
		}
	}()
	if retired != socket {
		// Ends Accept, and with it Serve, but not the connections; the socket itself stays open.
		return retired.Close()
	}
	return nil
}

func (l *listener) accept(server *http.Server, socket net.Listener) error {
	if l.at.Scheme == "https" {
		return server.ServeTLS(socket, "", "")
	}
	return server.Serve(socket)
}

// drain stops accepting and waits for the requests under way, at most as long as ctx; what is left then
// is cut off.
func (l *listener) drain(ctx context.Context) {
	// All at once: the last one accepts, and must not go on doing so while those before it drain.
	for _, server := range l.servers {
		l.running.Go(func() {
			if server.Shutdown(ctx) != nil {
				server.Close()
			}
		})
	}
	l.running.Wait()
}

// server returns the HTTP server for a listener. The handler and the certificates are those of the
// state that is current when a request or a handshake comes.
func (g *Gateway) server(limits conf.Limits) *http.Server {
	return &http.Server{
		Handler: g,
		// "OPTIONS *" would be answered without a look at it, and without a line in the log.
		DisableGeneralOptionsHandler: true,

		ReadHeaderTimeout: limits.HeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    int(limits.HeaderBytes),
		ErrorLog:          stdlog.New(serverLog{g}, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1", "acme-tls/1"},
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				s := g.acquire()
				if s == nil || s.value.certs == nil {
					return nil, ErrClosed
				}
				defer s.release()
				return s.value.certs.value.TLSConfig(), nil
			},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return nil, errors.New("no certificates")
			},
		},
	}
}

// serverLog passes on what net/http has to say, to the log that is current then.
type serverLog struct{ gateway *Gateway }

func (l serverLog) Write(p []byte) (int, error) {
	l.gateway.log().Info("http server", zap.ByteString("said", bytes.TrimSpace(p)))
	return len(p), nil
}

func find(listeners []*listener, at conf.Listen) *listener {
	for _, l := range listeners {
		if l.at == at {
			return l
		}
	}
	return nil
}

// limitsDiffer says whether what a server is made with has changed.
func limitsDiffer(a, b conf.Limits) bool {
	return a.HeaderBytes != b.HeaderBytes || a.HeaderTimeout != b.HeaderTimeout || a.IdleTimeout != b.IdleTimeout
}

// endpoint returns the first listener of a scheme, or nil.
func endpoint(cfg *conf.Config, scheme string) *conf.Listen {
	for i := range cfg.Listen {
		if cfg.Listen[i].Scheme == scheme {
			return &cfg.Listen[i]
		}
	}
	return nil
}

// port returns the port of the first listener of a scheme, or zero.
func port(cfg *conf.Config, scheme string) int {
	at := endpoint(cfg, scheme)
	if at == nil {
		return 0
	}
	_, text, _ := net.SplitHostPort(at.Addr)
	n, _ := strconv.Atoi(text)
	return n
}

func httpsPort(cfg *conf.Config) string {
	if n := port(cfg, "https"); n != 0 {
		return strconv.Itoa(n)
	}
	return ""
}
