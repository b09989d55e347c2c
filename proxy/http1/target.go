package http1

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// findTarget reads the request target in the form that belongs to the method (RFC 9112, 3.2).
func (m *message) findTarget() *Error {
	var err error
	if m.url, err = parseTarget(m.method, m.target); err != nil {
		return malformed("the request target is not a URL")
	}
	ok := false
	switch {
	case m.method == http.MethodConnect:
		ok = m.target[0] != '/' && m.url.User == nil && m.url.Path == "" && m.url.RawQuery == ""
	case m.target[0] == '/':
		ok = true
	case m.target == "*":
		ok = m.method == http.MethodOptions
	default:
		ok = (m.url.Scheme == "http" || m.url.Scheme == "https") && m.url.Host != "" && m.url.User == nil
	}
	if !ok {
		return malformed("the request target is neither a path nor a URL of HTTP")
	}
	return nil
}

// isPlainTarget are the bytes of a path or a query that url.Parse takes as they are and would write again as they are.
var isPlainTarget = table("/-_.~=&+,;:@$" + digits + letters)

// parseTarget is url.ParseRequestURI, with a short way for what nearly all requests ask for.
func parseTarget(method, target string) (*url.URL, error) {
	if target[0] != '/' {
		if method == http.MethodConnect {
			return parseAuthority(target)
		}
		return url.ParseRequestURI(target)
	}
	path, query, asked := strings.Cut(target, "?")
	for i := range len(path) {
		if !isPlainTarget[path[i]] {
			return url.ParseRequestURI(target)
		}
	}
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c == 0x7f {
			return url.ParseRequestURI(target)
		}
	}
	return &url.URL{Path: path, RawQuery: query, ForceQuery: asked && query == ""}, nil
}

// parseAuthority reads what CONNECT asks for.
func parseAuthority(target string) (*url.URL, error) {
	u, err := url.ParseRequestURI("http://" + target)
	if err == nil {
		u.Scheme = ""
	}
	return u, err
}

// findHost takes the host from the target, which goes before the field (RFC 9112, 3.2.2).
func (m *message) findHost() *Error {
	hosts := m.header["Host"]
	switch {
	case len(hosts) > 1:
		return malformed("Host is repeated")
	case len(hosts) == 0 && m.minor > 0:
		return malformed("Host is missing")
	case len(hosts) == 1:
		m.host = hosts[0]
		delete(m.header, "Host")
	}
	if !IsHost(m.host) {
		return malformed("Host is not a host")
	}
	if m.url.Host != "" {
		m.host = m.url.Host
	}
	if !IsHost(m.host) {
		return malformed("the host of the request target is not a host")
	}
	return nil
}

var isHostByte = table("!$&'()*+,-.;=_~%" + digits + letters)

// IsHost says whether s is a host, with or without a port (RFC 3986, 3.2.2 and 3.2.3). It may be empty, as Host may.
func IsHost(s string) bool {
	host, port, found := strings.Cut(s, ":")
	if strings.HasPrefix(s, "[") {
		literal, rest, ok := strings.Cut(s[1:], "]")
		if addr, err := netip.ParseAddr(literal); !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return false
		}
		if host, port, found = strings.Cut(rest, ":"); host != "" {
			return false
		}
	} else if host == "" && found {
		return false
	}
	for i := range len(host) {
		if !isHostByte[host[i]] {
			return false
		}
	}
	return isPort(port)
}

func isPort(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) <= 5
}
