// Package identity answers who a client is: its address and port, the scheme and port that it used, and the host it
// asked for. The answer comes from the connection, from a PROXY protocol header before it, or from what trusted
// proxies say in the request, and from nothing that others say.
package identity

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// Client is who asks and how. Its zero value is nobody.
type Client struct {
	// Addr is the client's address in text, without a port. It is never empty for a request over TCP.
	Addr string
	// Port is the client's own port in text. Empty means that no proxy told it.
	Port string
	// Scheme is "http" or "https", as the client used it.
	Scheme string
	// ServerPort is the port that the client came to, in text.
	ServerPort string
	// ForwardedPort is ServerPort where a trusted proxy named it, else empty.
	ForwardedPort string
	// Host is the host and port that a proxy, trusted for that too, was asked for. Empty means the request's own.
	Host string
	// Source is how Addr is known.
	Source Source
}

// Source is where an address was learnt.
type Source int

// The sources of an address. With the PROXY protocol, the connection has the address of the header.
const (
	Connection Source = iota
	Header
)

type clientKey struct{}

// With returns r with c as the answer that Of, Scheme and IP give.
func With(r *http.Request, c *Client) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), clientKey{}, c))
}

// Of returns who sends r: what With left, or else what the connection says.
func Of(r *http.Request) Client {
	if c := known(r); c != nil {
		return *c
	}
	return ofConnection(r)
}

func known(r *http.Request) *Client {
	c, _ := r.Context().Value(clientKey{}).(*Client)
	return c
}

func ofConnection(r *http.Request) Client {
	c := Client{Scheme: schemeOf(r)}
	c.Addr, c.Port = splitAddress(r.RemoteAddr)
	if _, c.ServerPort = Local(r); c.ServerPort == "" {
		c.ServerPort = defaultPort(c.Scheme)
	}
	return c
}

// Scheme returns the scheme that r's client used, without an allocation.
func Scheme(r *http.Request) string {
	if c := known(r); c != nil {
		return c.Scheme
	}
	return schemeOf(r)
}

// IP returns the address of r's client, a mapped IPv4 one as IPv4 and none with a zone. It is the zero Addr for a
// connection that is not TCP.
func IP(r *http.Request) netip.Addr {
	addr, _ := splitAddress(r.RemoteAddr)
	if c := known(r); c != nil {
		addr = c.Addr
	}
	ip, _ := netip.ParseAddr(addr)
	return plain(ip)
}

// PortOf returns the port in a Host, or that of the scheme. The port that this machine listens on is another behind
// a mapping, such as that of a container.
func PortOf(host, scheme string) string {
	port := host[strings.LastIndexByte(host, ':')+1:]
	if len(port) < len(host) && isPort(port) {
		return port
	}
	return defaultPort(scheme)
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// splitAddress splits what a connection says of its other end, "1.2.3.4:5" or "[::1]:5".
func splitAddress(hostport string) (addr, port string) {
	addr, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport, ""
	}
	return addr, port
}

// plain makes one address of the spellings of the same: a mapped IPv4 one, and one with a zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
