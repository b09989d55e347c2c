package conf

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Endpoint is an address to dial or to listen on.
type Endpoint struct {
	// Network is "unix" or "tcp".
	Network string
	// Address is the absolute path of a unix socket, else host:port.
	Address string
}

// String returns "unix:/path" or "host:port".
func (e Endpoint) String() string {
	if e.Network == "unix" {
		return "unix:" + e.Address
	}
	return e.Address
}

// Listen is an address to accept clients on.
type Listen struct {
	// Scheme is "http" or "https".
	Scheme string
	// Addr is host:port as net.Listen takes it; an empty host stands for all addresses.
	Addr string
}

// String returns the address as it is written in a file: "https://:443".
func (l Listen) String() string { return l.Scheme + "://" + l.Addr }

// HashKey is the part of a request that Policy "hash" looks at.
type HashKey struct {
	// From is "client" (its address), "uri", "header" or "cookie".
	From string
	// Name is that of the header or cookie, else empty.
	Name string
}

// parseListen reads "http://:80" or "https://[::1]:8443".
func parseListen(s string) (Listen, error) {
	scheme, addr, found := strings.Cut(s, "://")
	switch {
	case !found:
		return Listen{}, errors.New("no scheme")
	case scheme != "http" && scheme != "https":
		return Listen{}, fmt.Errorf("unknown scheme %q", scheme)
	case strings.HasPrefix(addr, "*:"):
		return Listen{}, fmt.Errorf("every address is written %q", scheme+"://"+addr[1:])
	}
	return Listen{scheme, addr}, checkHostPort(addr, 0)
}

// checkHostPort accepts host:port, :port and [v6]:port with a port of at least least.
func checkHostPort(addr string, least uint64) error {
	if strings.ContainsAny(addr, "/?#@") {
		return errors.New("a path, query or user has no place here")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("no host:port; an IPv6 address stands in brackets")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n < least || port != strconv.FormatUint(n, 10) {
		return fmt.Errorf("the port is not a number from %d to 65535", least)
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		return checkName(host)
	}
	return nil
}

// parseUnix reads "unix:/path", and tells whether s is meant as a path at all.
func parseUnix(s string) (e Endpoint, meant bool, err error) {
	path, found := strings.CutPrefix(s, "unix:")
	switch {
	case strings.HasPrefix(s, "/"):
		return e, true, fmt.Errorf("a socket is written %q", "unix:"+s)
	case !found:
		return e, false, nil
	case strings.HasPrefix(path, "//"):
		return e, true, fmt.Errorf("a socket is written %q", "unix:/"+strings.TrimLeft(path, "/"))
	case !strings.HasPrefix(path, "/"):
		return e, true, errors.New("the path of a socket is absolute")
	case len(path) > 107:
		return e, true, errors.New("the path of a socket has at most 107 bytes")
	case strings.ContainsRune(path, 0):
		return e, true, errors.New("the path holds a NUL")
	}
	return Endpoint{"unix", path}, true, nil
}

// parseBackend reads "unix:/path" or "host:port".
func parseBackend(s string) (Endpoint, error) {
	if e, meant, err := parseUnix(s); meant {
		return e, err
	}
	if strings.HasPrefix(s, ":") && !strings.HasPrefix(s, "::") {
		return Endpoint{}, fmt.Errorf("a backend has a host, such as %q", "127.0.0.1"+s)
	}
	return Endpoint{"tcp", s}, checkHostPort(s, 1)
}

func parseFastCGI(s string) (Endpoint, error) {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return Endpoint{}, errors.New(`this address speaks HTTP and belongs in the key "http"`)
	}
	return parseBackend(strings.TrimPrefix(s, "tcp://"))
}

func parseHTTP(s string) (Endpoint, error) {
	if strings.HasPrefix(s, "https://") {
		return Endpoint{}, errors.New("backends are spoken to without TLS")
	}
	if addr, found := strings.CutPrefix(s, "http://"); found {
		s = strings.TrimSuffix(addr, "/")
	}
	return parseBackend(s)
}

func parseAdmin(s string) (Endpoint, error) {
	if e, meant, err := parseUnix(s); meant {
		return e, err
	}
	addr, found := strings.CutPrefix(s, "http://")
	if !found {
		return Endpoint{}, errors.New(`neither "unix:" nor "http://"`)
	}
	return Endpoint{"tcp", addr}, checkHostPort(addr, 0)
}

func parseRedis(s string) (Endpoint, error) {
	if strings.Contains(s, "://") {
		return Endpoint{}, errors.New("a user, a password and TLS are keys of their own")
	}
	return parseBackend(s)
}

// parseResolver reads the address of a DNS server, whose port may be left out.
func parseResolver(s string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	return s, checkHostPort(s, 1)
}

func parseHTTPS(s string) (string, error) {
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" {
		return "", errors.New("no such URL")
	}
	return s, nil
}

func parseHashKey(s string) (HashKey, error) {
	from, name, named := strings.Cut(s, ":")
	switch from {
	case "client", "uri":
		if named {
			return HashKey{}, fmt.Errorf("%s takes no name", from)
		}
	case "header", "cookie":
		if err := checkToken(name); err != nil {
			return HashKey{}, fmt.Errorf("%s needs a name, such as %q", from, from+":X-Tenant")
		}
	default:
		return HashKey{}, errors.New("unknown")
	}
	return HashKey{from, name}, nil
}
