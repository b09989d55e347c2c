package proxy

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"gateway/conf"
)

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
	if err != nil {
		return nil, notBound(at, err, "ss -ltnp")
	}
	return socket.(*net.TCPListener), nil
}

// bindUDP binds the UDP port beside l, which may have chosen its own.
func bindUDP(l *listener) (*net.UDPConn, error) {
	host, _, _ := net.SplitHostPort(l.at.Addr)
	_, port, _ := net.SplitHostPort(l.socket.Addr().String())
	socket, err := net.ListenPacket("udp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, notBound(l.at, err, "ss -lunp")
	}
	return socket.(*net.UDPConn), nil
}

func notBound(at conf.Listen, err error, list string) error {
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
			" `" + list + "` names it; stop it, or set listen to another port"
	case syscall.EADDRNOTAVAIL:
		failed.Hint = "no interface of this machine has this address: `ip addr` lists those it has"
	}
	return failed
}

// bound is what a configuration needs and was not there yet. It does not accept.
type bound struct {
	fresh []*listener
	http3 map[*listener]*http3Listener
}

// bindMissing binds the addresses of cfg that are not listened on yet, all or none.
func (g *Gateway) bindMissing(cfg *conf.Config) (*bound, error) {
	b := &bound{http3: make(map[*listener]*http3Listener)}
	var failed []error
	for _, at := range cfg.Listen {
		l := find(g.listeners, at)
		if l == nil {
			socket, err := bind(at)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			l = g.listener(at, socket)
			b.fresh = append(b.fresh, l)
		}
		if cfg.HTTP3 && at.Scheme == "https" && l.http3 == nil {
			h, err := newHTTP3(l)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			b.http3[l] = h
		}
	}
	if len(failed) == 0 {
		return b, nil
	}
	b.close()
	return nil, errors.Join(failed...)
}

func (b *bound) close() {
	for _, l := range b.fresh {
		l.socket.Close()
	}
	for _, h := range b.http3 {
		h.close()
	}
}
