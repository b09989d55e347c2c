package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"gateway/conf"
	"gateway/proxy/http1"
)

// listener is one address that clients come to, and the servers of the connections that came.
type listener struct {
	at      conf.Listen
	gateway *Gateway
	socket  *net.TCPListener
	limits  atomic.Pointer[conf.Limits]
	http1   *http1.Server
	http2   atomic.Pointer[http2Server]
	http3   *http3Listener // nil without HTTP/3; guarded by the gateway's mu
	tls     *tls.Config    // nil for cleartext
	serving sync.WaitGroup // connections, and the loop that accepts them
	stopped chan struct{}  // closed when no more are accepted

	// What is left on servers of earlier limits goes on until cut is called: tunnels may be among it.
	life context.Context
	cut  context.CancelFunc
}

// listener returns the listener of a bound socket. It does not accept yet.
func (g *Gateway) listener(at conf.Listen, socket *net.TCPListener) *listener {
	l := &listener{at: at, gateway: g, socket: socket, stopped: make(chan struct{})}
	l.life, l.cut = context.WithCancel(context.Background())
	l.http1 = http1.New(http1.Config{Handler: g, Limits: l.limitsOfHTTP1, Refused: g.refused})
	if at.Scheme == "https" {
		l.tls = g.tlsConfig()
	}
	return l
}

// start accepts from now on.
func (l *listener) start() {
	l.serving.Go(func() {
		if err := l.accept(); err != nil {
			l.gateway.log().Error("listener stopped", zap.Stringer("listen", l.at), zap.Error(err))
		}
	})
}

// limit puts limits in force, for connections that are there as well. net/http cannot change its own while it runs, so
// clients of HTTP/2 are asked to come again.
func (l *listener) limit(limits conf.Limits) {
	before := l.limits.Swap(&limits)
	if before != nil && !limitsDiffer(*before, limits) {
		return
	}
	if l.http3 != nil {
		l.http3.limit(limits)
	}
	next := l.gateway.http2Server(limits, l.socket.Addr())
	l.serving.Go(next.serve)
	if old := l.http2.Swap(next); old != nil {
		l.serving.Go(func() { old.drain(l.life) })
	}
}

func (l *listener) limitsOfHTTP1() http1.Limits {
	limits := l.limits.Load()
	return http1.Limits{
		HeaderBytes: int(limits.HeaderBytes), HeaderLines: limits.HeaderLines, HeaderTimeout: limits.HeaderTimeout,
		IdleTimeout: limits.IdleTimeout, UnreadTimeout: limits.BodyTimeout,
	}
}

// drain stops accepting and waits for the requests under way, at most as long as ctx; what is left then
// is cut off.
func (l *listener) drain(ctx context.Context) {
	close(l.stopped)
	l.socket.Close()
	defer l.cut()
	defer context.AfterFunc(ctx, l.cut)()
	var ending sync.WaitGroup
	ending.Go(func() { _ = l.http1.Shutdown(ctx) }) // it has cut off what was left
	ending.Go(func() { l.http2.Load().drain(ctx) })
	if l.http3 != nil {
		ending.Go(func() { l.http3.drain(ctx) })
	}
	ending.Wait()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.serving.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // a handshake may be under way, whose end is its own time
	}
}

// tlsConfig takes the certificates from the state that is current when a handshake comes.
func (g *Gateway) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1", "acme-tls/1"},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			s := g.acquire()
			if s == nil || s.value.certs == nil {
				return nil, ErrClosed
			}
			defer s.release()
			return s.value.certs.value.ConfigFor(hello), nil
		},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return nil, errors.New("no certificates")
		},
	}
}

// refused notes a request that was answered before any site was known, for its head is at fault.
func (g *Gateway) refused(client net.Conn, fault *http1.Error) {
	g.log().Info("request refused", zap.String("client", client.RemoteAddr().String()),
		zap.Int("status", fault.Status), zap.String("reason", fault.Reason))
}

func find(listeners []*listener, at conf.Listen) *listener {
	for _, l := range listeners {
		if l.at == at {
			return l
		}
	}
	return nil
}

// limitsDiffer says whether what an HTTP/2 server is made with has changed.
func limitsDiffer(a, b conf.Limits) bool {
	return a.HeaderBytes != b.HeaderBytes || a.HeaderTimeout != b.HeaderTimeout || a.IdleTimeout != b.IdleTimeout ||
		a.StreamsPerConnection != b.StreamsPerConnection
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
