package proxy

import (
	"errors"
	"net/http"

	"gateway/proxy/identity"
	"gateway/proxy/limit"
)

// errTooMany is a client that asks for more than its part.
var errTooMany = errors.New("too many requests at once from the client's address; see limits.in_flight_per_address")

// limitInFlight refuses what a client asks for beyond most requests at once, over however many connections and
// streams. The counter outlives the configuration, as requests do.
func limitInFlight(counter *limit.Counter, most int) layer {
	return func(next http.Handler) http.Handler {
		if most == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			addr := identity.IP(r)
			if !counter.Take(addr, most) {
				w.Header()["Retry-After"] = []string{"1"}
				fail(w, r, errTooMany)
				return
			}
			defer counter.Give(addr)
			next.ServeHTTP(w, r)
		})
	}
}
