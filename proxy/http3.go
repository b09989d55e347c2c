package proxy

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"gateway/conf"
)

const (
	// uniStreams are how many a client may open that carry no request; HTTP/3 needs three, and some more may come.
	uniStreams = 8
	// handshakesAtOnce is how many may be under way before clients have to prove that their address is theirs.
	handshakesAtOnce = 64
	// deadAfter is how long a client may be silent though it is asked for a sign of life.
	deadAfter = 30 * time.Second
)

// http3Listener is the UDP socket beside a listener of https, and the connections that came by it.
type http3Listener struct {
	gateway   *Gateway
	socket    *net.UDPConn
	transport *quic.Transport
	accepting *quic.Listener
	current   atomic.Pointer[http3Server]
	pending   atomic.Int64 // handshakes under way
	serving   sync.WaitGroup

	// What is left on servers of earlier limits goes on until cut is called.
	life context.Context
	cut  context.CancelFunc
}

// newHTTP3 binds the UDP port beside l. Nobody is served before the first limits.
func newHTTP3(l *listener) (*http3Listener, error) {
	socket, err := bindUDP(l)
	if err != nil {
		return nil, err
	}
	h := &http3Listener{gateway: l.gateway, socket: socket}
	h.life, h.cut = context.WithCancel(context.Background())
	h.transport = &quic.Transport{
		Conn: socket, ConnContext: h.begin,
		VerifySourceAddress: func(net.Addr) bool { return h.pending.Load() > handshakesAtOnce },
	}
	h.accepting, err = h.transport.Listen(http3.ConfigureTLSConfig(l.tls), &quic.Config{
		GetConfigForClient: func(*quic.ClientInfo) (*quic.Config, error) {
			if current := h.current.Load(); current != nil {
				return quicConfig(current.limits), nil
			}
			return nil, ErrClosed
		},
	})
	if err != nil {
		socket.Close()
		return nil, &ListenError{Addr: l.at, Err: err}
	}
	return h, nil
}

// quicConfig has no early data: whoever records a request could send it again.
func quicConfig(limits conf.Limits) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:  limits.HeaderTimeout / 2, // the whole may take twice that
		MaxIdleTimeout:        deadAfter,
		KeepAlivePeriod:       deadAfter / 2,
		Allow0RTT:             false,
		MaxIncomingStreams:    int64(limits.StreamsPerConnection),
		MaxIncomingUniStreams: uniStreams,
	}
}

// limit puts limits in force. Clients that are there are asked to come again, as those of HTTP/2.
func (h *http3Listener) limit(limits conf.Limits) {
	next := h.server(limits)
	h.serving.Go(next.serve)
	if old := h.current.Swap(next); old != nil {
		h.serving.Go(func() { old.drain(h.life) })
	}
}

// drain takes no new connections and waits for the requests under way, at most as long as ctx; what is left then is cut
// off.
func (h *http3Listener) drain(ctx context.Context) {
	defer context.AfterFunc(ctx, h.cut)()
	defer h.cut()
	_ = h.accepting.Close()
	h.current.Load().drain(ctx)
	h.serving.Wait()
	h.close()
}

// close lets the port go. What it closes cannot fail in a way that matters after the last packet.
func (h *http3Listener) close() {
	_ = h.transport.Close()
	_ = h.socket.Close()
}

type handshakeKey struct{}

// begin counts a handshake until it has succeeded or failed.
func (h *http3Listener) begin(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	h.pending.Add(1)
	done := sync.OnceFunc(func() { h.pending.Add(-1) })
	context.AfterFunc(ctx, done)
	return context.WithValue(ctx, handshakeKey{}, done), nil
}

// Accept returns the next connection whose client may have one more. The others are closed.
func (h *http3Listener) Accept(ctx context.Context) (*quic.Conn, error) {
	for {
		conn, err := h.accepting.Accept(ctx)
		if err != nil {
			return nil, err
		}
		if done, ok := conn.Context().Value(handshakeKey{}).(func()); ok {
			done()
		}
		if h.admit(conn) {
			return conn, nil
		}
	}
}

// Addr returns the address of the socket. Close does nothing, since each server would close the socket of its successor.
func (h *http3Listener) Addr() net.Addr { return h.socket.LocalAddr() }

// Close leaves the listener to drain.
func (h *http3Listener) Close() error { return nil }

// admit counts conn among the connections of its address, those over TCP too.
func (h *http3Listener) admit(conn *quic.Conn) bool {
	door := h.gateway.door()
	addr := udpAddress(conn.RemoteAddr())
	if door == nil || door.resolver.Trusts(addr) {
		return true
	}
	release, ok := h.gateway.count(addr, door.most)
	if !ok {
		_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), "too many connections")
		return false
	}
	if release != nil {
		context.AfterFunc(conn.Context(), release)
	}
	return true
}

func udpAddress(addr net.Addr) netip.Addr {
	if udp, ok := addr.(*net.UDPAddr); ok {
		return udp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
