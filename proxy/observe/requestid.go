package observe

import (
	"math/rand/v2"
	"net/http"
)

const maxRequestID = 128

// requestID returns the client's id if it may choose one and chose a sane one, else a new one.
func (o *Observer) requestID(r *http.Request) string {
	if o.trustRequestID {
		if ids := r.Header["X-Request-Id"]; len(ids) == 1 && saneRequestID(ids[0]) {
			return ids[0]
		}
	}
	return newRequestID()
}

func saneRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// newRequestID returns 128 random bits. They only have to be unlike all others, not secret.
func newRequestID() string {
	const digits = "0123456789abcdef"
	var id [32]byte
	for half := range 2 {
		bits := rand.Uint64()
		for i := range 16 {
			id[half*16+i] = digits[bits&15]
			bits >>= 4
		}
	}
	return string(id[:])
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
