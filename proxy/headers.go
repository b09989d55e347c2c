package proxy

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop are the headers of one connection, which are never passed on (RFC 9110, 7.6.1).
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Proxy-Authenticate", "Proxy-Authorization", "Http2-Settings",
}

// removeHopByHop takes out what belongs to this connection alone, including what Connection names.
func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(textproto.TrimString(name))
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// removeClaims takes out what a client may not say about itself or about us: who it is, how it came, and
// the request side of the file hand-over headers. What trusted proxies say has been read before, and goes as well:
// the application is told by us alone.
func removeClaims(h http.Header) {
	for name := range h {
		if isClaim(name) || !isPlain(name) {
			delete(h, name)
		}
	}
}

func isClaim(name string) bool {
	switch name {
	case "Proxy", "Forwarded", "X-Real-Ip", "X-Accel-Mapping", "X-Sendfile-Type",
		"Remote-Addr", "Server-Port", "Https", "Scheme": // Octane lifts these out of the HTTP_ names
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// isPlain says whether a header name has only letters, digits and dashes. Others fold into the same CGI
// variable as a plain name, and so could forge it.
func isPlain(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		default:
			return false
		}
	}
	return true
}

// isUpgrade says whether the client asks to change the protocol of its HTTP/1.1 connection. A server may ignore
// that (RFC 9110, 7.8), and we do so with a body, whose limits would not hold for what is no message any more, and
// with cleartext HTTP/2, in which the backend would take further requests that have not passed here.
func isUpgrade(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ProtoMinor >= 1 && r.ContentLength == 0 && hasToken(r.Header["Connection"], "upgrade") &&
		r.Header.Get("Upgrade") != "" && !hasToken(r.Header["Upgrade"], "h2c")
}

func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(part), token) {
				return true
			}
		}
	}
	return false
}
