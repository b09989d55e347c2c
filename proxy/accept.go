package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"go.uber.org/zap"
)

// accept serves every connection that comes, until the socket is closed.
func (l *listener) accept() error {
	socket := l.gateway.front(l.at, l.socket)
	for wait := time.Duration(0); ; {
		nc, err := socket.Accept()
		switch {
		case err == nil:
			wait = 0
			l.serving.Go(func() { l.serve(nc) })
		case errors.Is(err, net.ErrClosed):
			return nil
		case isTemporary(err):
			// Such as no file descriptors left: who comes waits in the socket's queue meanwhile.
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			l.gateway.log().Warn("accept", zap.Stringer("listen", l.at), zap.Error(err), zap.Duration("retry_in", wait))
			select {
			case <-time.After(wait):
			case <-l.stopped:
			}
		default:
			return err
		}
	}
}

func isTemporary(err error) bool {
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

// serve serves one connection in the protocol that its client speaks.
func (l *listener) serve(nc net.Conn) {
	door := l.gateway.door()
	proxied := door.isProxied(nc)
	if l.at.Scheme == "https" {
		l.serveTLS(nc, proxied)
		return
	}
	if !proxied || !door.h2c {
		l.http1.Serve(nc)
		return
	}
	conn, isHTTP2, err := sniff(nc, l.limits.Load().HeaderTimeout)
	switch {
	case err != nil:
		nc.Close()
	case isHTTP2:
		l.giveHTTP2(&http2Conn{Conn: conn})
	default:
		l.http1.Serve(conn)
	}
}

func (l *listener) serveTLS(nc net.Conn, proxied bool) {
	secure, err := l.handshake(nc)
	if err != nil {
		nc.Close()
		return
	}
	state := secure.ConnectionState()
	switch state.NegotiatedProtocol {
	case "h2":
		c := &http2Conn{Conn: secure, tls: &state, headTimeout: l.limits.Load().HeaderTimeout, refused: l.flooded(nc)}
		if !proxied {
			c.guard = newHTTP2Guard(time.Now())
		}
		l.giveHTTP2(c)
	case "acme-tls/1": // the handshake was all that was asked
		secure.Close()
	default:
		l.http1.Serve(secure)
	}
}

// flooded notes why the connection of a client is closed.
func (l *listener) flooded(nc net.Conn) func(error) {
	return func(fault error) {
		l.gateway.log().Info("connection refused", zap.Stringer("client", nc.RemoteAddr()), zap.Error(fault))
	}
}

// giveHTTP2 hands c to the server of the limits that are in force.
func (l *listener) giveHTTP2(c *http2Conn) {
	for h2 := l.http2.Load(); !h2.give(c); {
		next := l.http2.Load()
		if next == h2 {
			c.Close()
			return
		}
		h2 = next
	}
}

// handshake is bounded by the time for a head, which is the first thing that a client has to say.
func (l *listener) handshake(nc net.Conn) (*tls.Conn, error) {
	secure := tls.Server(nc, l.tls)
	ctx, cancel := context.WithTimeout(context.Background(), l.limits.Load().HeaderTimeout)
	defer cancel()
	err := secure.HandshakeContext(ctx)
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil && startsLikeHTTP(plain.RecordHeader) {
		// Whoever forgot the s in https is told so. The time for that is what is left of the handshake's.
		_, _ = plain.Conn.Write([]byte("HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" +
			"This is an https address: it speaks TLS only.\n"))
	}
	if err != nil {
		l.gateway.log().Debug("tls handshake", zap.Stringer("client", nc.RemoteAddr()), zap.Error(err))
		return nil, err
	}
	return secure, nil
}

func startsLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET":
		return true
	}
	return false
}
