package proxy

import (
	"net/http"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/observe"
)

// resolver knows the proxies that cfg trusts. It is nil when there are none.
func resolver(cfg *conf.Config) *identity.Resolver {
	return identity.New(identity.Config{
		Trusted: conf.Networks(cfg.TrustedProxies), Header: cfg.ForwardedHeader, Host: cfg.ForwardedHost,
	})
}

// identify finds out who asks, for all that comes after it, and takes out what clients may not say about themselves.
func identify(resolver *identity.Resolver) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if client, ok := resolver.Resolve(r); ok {
				observe.FromContext(r.Context()).ClientAddr = client.Addr
				r = identity.With(r, client)
				if client.Host != "" {
					r.Host = client.Host
				}
			}
			removeClaims(r.Header)
			next.ServeHTTP(w, r)
		})
	}
}
