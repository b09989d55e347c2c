package proxy

import (
	"net/http"
	"net/netip"

	"gateway/proxy/identity"
)

// advertise tells browsers that come over TCP that they may come over UDP, at the same port. The port is the one that
// they know, which is another than ours behind a mapping. Proxies pass no UDP on, so what comes by them is told nothing.
func advertise(http3 bool, resolver *identity.Resolver) layer {
	return func(next http.Handler) http.Handler {
		if !http3 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			peer, _ := netip.ParseAddrPort(r.RemoteAddr)
			if r.TLS != nil && r.ProtoMajor < 3 && !resolver.Trusts(peer.Addr()) {
				w.Header()["Alt-Svc"] = []string{`h3=":` + identity.PortOf(r.Host, "https") + `"; ma=86400`}
			}
			next.ServeHTTP(w, r)
		})
	}
}
