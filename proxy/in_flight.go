package proxy

import (
	"net/http"
	"time"

	"gateway/proxy/identity"
	"gateway/proxy/limit"
)

// tooManyError is a client that asks for more than its part.
type tooManyError struct {
	limit string        // the key of the configuration
	retry time.Duration // after which another try is worth while
}

func (e *tooManyError) Error() string { return "the client asks for more than " + e.limit + " allows" }

// RetryAfter is what the client is told.
func (e *tooManyError) RetryAfter() time.Duration { return e.retry }

var errInFlight = &tooManyError{"limits.in_flight_per_address", time.Second}

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
				fail(w, r, errInFlight)
				return
			}
			defer counter.Give(addr)
			next.ServeHTTP(w, r)
		})
	}
}
