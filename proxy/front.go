package proxy

import (
	"net"
	"net/netip"
	"slices"
	"sync"

	"gateway/conf"
	"gateway/proxy/identity"
)

// door is what a connection has to pass before anybody reads from it.
type door struct {
	resolver *identity.Resolver
	proxied  []conf.Listen // where trusted proxies send a PROXY protocol header
	most     int           // connections of one address; 0 for no limit
	h2c      bool          // trusted proxies may speak HTTP/2 without TLS
}

// newDoor returns nil when every connection is let in as it comes.
func newDoor(cfg *conf.Config, resolver *identity.Resolver) *door {
	if resolver == nil && cfg.Limits.ConnectionsPerAddress == 0 {
		return nil
	}
	return &door{resolver, cfg.ProxyProtocol, cfg.Limits.ConnectionsPerAddress, cfg.H2C}
}

// front is a listener behind the door of the configuration that is current when a connection comes.
type front struct {
	net.Listener
	gateway *Gateway
	at      conf.Listen
}

func (g *Gateway) front(at conf.Listen, socket net.Listener) net.Listener {
	return &front{socket, g, at}
}

// Accept returns the next connection that is let in. Those that are not are closed.
func (f *front) Accept() (net.Conn, error) {
	for {
		conn, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn := f.admit(conn); conn != nil {
			return conn, nil
		}
	}
}

// admit returns conn, or what takes its place, or nil when it was closed. Proxies are not counted, since their
// connections are those of all clients; with the PROXY protocol the client that they name is.
func (f *front) admit(conn net.Conn) net.Conn {
	door := f.gateway.door()
	if door == nil {
		return conn
	}
	count := func(addr netip.Addr) (func(), bool) { return f.gateway.count(addr, door.most) }
	peer := addressOf(conn)
	if door.resolver.Trusts(peer) {
		if slices.Contains(door.proxied, f.at) {
			return identity.NewConn(conn, identity.ConnConfig{Admit: count})
		}
		return conn
	}
	tcp, isTCP := conn.(*net.TCPConn)
	if !isTCP || door.most == 0 {
		return conn
	}
	release, ok := count(peer)
	if !ok {
		conn.Close() // without an answer, which would cost more than the connection
		return nil
	}
	return &tcpConn{TCPConn: tcp, release: release}
}

// door returns the current one, or nil.
func (g *Gateway) door() *door {
	s := g.acquire()
	if s == nil {
		return nil
	}
	defer s.release()
	return s.value.door
}

// count takes a place for a connection of addr. release is nil when there is no limit.
func (g *Gateway) count(addr netip.Addr, most int) (release func(), ok bool) {
	if most == 0 {
		return nil, true
	}
	if !g.accepted.Take(addr, most) {
		g.turnedAway.Inc()
		return nil, false
	}
	return func() { g.accepted.Give(addr) }, true
}

// tcpConn gives its place back when it is closed. What TCP alone can do, such as sendfile, it still can.
type tcpConn struct {
	*net.TCPConn
	once    sync.Once
	release func()
}

// Socket returns the connection without the place.
func (c *tcpConn) Socket() *net.TCPConn { return c.TCPConn }

// Close closes the connection.
func (c *tcpConn) Close() error {
	c.once.Do(c.release)
	return c.TCPConn.Close()
}

func addressOf(conn net.Conn) netip.Addr {
	addr, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return addr.AddrPort().Addr()
}
