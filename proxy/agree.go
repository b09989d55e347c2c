package proxy

import (
	"errors"
	"net/http"
)

// errDisagree is a request for a host of another site than the connection was made for.
var errDisagree = errors.New("the host is one of another site than the name in the TLS handshake")

// agree refuses a request whose host belongs to another site than the name that the TLS connection was made for: what
// was asked of the client then, such as a certificate, was asked for that site. Clients may use one connection for
// several hosts, and make one of their own when they are told so (RFC 9110, 15.5.20).
func (h *hosts) agree(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && r.TLS.ServerName != "" && r.TLS.ServerName != r.Host && h.find(r.TLS.ServerName) != h.find(r.Host) {
			fail(w, r, errDisagree)
			return
		}
		next.ServeHTTP(w, r)
	})
}
