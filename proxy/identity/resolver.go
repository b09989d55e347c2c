package identity

import (
	"net/http"
	"net/netip"
	"strings"
)

// The headers in which proxies may say who came to them.
const (
	XForwarded = "X-Forwarded-For" // with X-Forwarded-Proto, -Port and -Host beside it
	Forwarded  = "Forwarded"       // RFC 7239
)

// Config says whom to believe, and what.
type Config struct {
	// Trusted are the networks of the proxies. Without any, nobody is believed.
	Trusted []netip.Prefix
	// Header is XForwarded or Forwarded; the other one is never looked at. Empty means XForwarded.
	Header string
	// Host tells to believe what proxies say of the host too. Many pass on what a client wrote there.
	Host bool
}

// Resolver finds the client behind trusted proxies. A nil Resolver believes nobody.
type Resolver struct {
	trusted *Set
	read    func(http.Header) trail
	host    bool
}

// New returns the Resolver of cfg, which is nil when nobody is trusted.
func New(cfg Config) *Resolver {
	trusted := NewSet(cfg.Trusted)
	if trusted == nil {
		return nil
	}
	v := &Resolver{trusted: trusted, read: readXForwarded, host: cfg.Host}
	if cfg.Header == Forwarded {
		v.read = readForwarded
	}
	return v
}

// Trusts says whether addr is that of a trusted proxy.
func (v *Resolver) Trusts(addr netip.Addr) bool { return v != nil && v.trusted.Has(addr) }

// Resolve returns the client of r as trusted proxies tell it. It is false when the connection comes from nobody
// trusted, or when they tell nothing, so that the client is the other end of the connection.
func (v *Resolver) Resolve(r *http.Request) (*Client, bool) {
	if v == nil {
		return nil, false
	}
	peer, _ := splitAddress(r.RemoteAddr)
	addr, err := netip.ParseAddr(peer)
	if err != nil || !v.Trusts(addr) {
		return nil, false
	}
	c := ofConnection(r)
	said, told := v.walk(v.read(r.Header), &c)
	if !told {
		return nil, false
	}
	tell(&c, r, said, v.host)
	return &c, true
}

// trail is what proxies say, the nearest one first: each call returns what the next one does, until there is nothing
// more.
type trail func() (claim, bool)

// claim is what one proxy says of the request that came to it. What it does not say, or not so that it can be read,
// is the zero value.
type claim struct {
	addr              netip.AddrPort // a zero port is not known
	proto, host, port string
}

// walk goes from proxy to proxy as long as each is trusted, and keeps the last address that one of them vouches for.
// Were it to begin at the other end, anyone could write in front of what the proxies add. It returns what was said by
// the last one that said anything, and whether there was any.
func (v *Resolver) walk(next trail, c *Client) (all claim, told bool) {
	for {
		said, ok := next()
		if !ok {
			return all, told
		}
		told = true
		all = claim{proto: or(said.proto, all.proto), host: or(said.host, all.host), port: or(said.port, all.port)}
		if !said.addr.IsValid() {
			return all, told
		}
		c.Addr, c.Port, c.Source = said.addr.Addr().String(), portText(said.addr.Port()), Header
		if !v.Trusts(said.addr.Addr()) {
			return all, told
		}
	}
}

// tell takes over what was said of the client's request. What is not one of the known schemes, ports or hosts says
// nothing. A scheme without a port means the port that is in the host, or that of the scheme.
func tell(c *Client, r *http.Request, said claim, host bool) {
	if host && isHost(said.host) {
		c.Host = said.host
	}
	if scheme := schemeNamed(said.proto); scheme != "" {
		c.Scheme = scheme
		c.ServerPort = PortOf(or(c.Host, r.Host), scheme)
	}
	if isPort(said.port) {
		c.ServerPort, c.ForwardedPort = said.port, said.port
	}
}

// schemeNamed knows the names that WebSockets have for the two schemes as well.
func schemeNamed(proto string) string {
	switch {
	case strings.EqualFold(proto, "https"), strings.EqualFold(proto, "wss"):
		return "https"
	case strings.EqualFold(proto, "http"), strings.EqualFold(proto, "ws"):
		return "http"
	}
	return ""
}

// isHost says whether text can stand in a Host header and in a link.
func isHost(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._:[]", c) >= 0:
		default:
			return false
		}
	}
	return text != ""
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
