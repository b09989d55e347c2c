package proxy

import (
	"net"
	"strings"
)

// hosts finds the site of a host: the exact name first, then the wildcard one label above, then "*".
type hosts struct {
	exact    map[string]*site
	wildcard map[string]*site // by what follows the star, with its dot: ".example.com"
	any      *site
}

func (h *hosts) add(pattern string, s *site) {
	switch {
	case pattern == "*":
		h.any = s
	case strings.HasPrefix(pattern, "*."):
		h.wildcard[pattern[1:]] = s
	default:
		h.exact[pattern] = s
	}
}

// find returns the site that answers for a Host header, or nil.
func (h *hosts) find(hostport string) *site {
	host := hostname(hostport)
	if s, ok := h.exact[host]; ok {
		return s
	}
	if dot := strings.IndexByte(host, '.'); dot > 0 {
		if s, ok := h.wildcard[host[dot:]]; ok {
			return s
		}
	}
	return h.any
}

// hostname is a Host header without its port, a trailing dot or upper case.
func hostname(hostport string) string {
	host := hostport
	if strings.HasSuffix(host, "]") || strings.IndexByte(host, ':') >= 0 {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.Trim(host, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
