package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"gateway/conf"
	"gateway/proxy/http1"
)

// limitHead refuses a head that says too much. HTTP/1 counts its lines and looks at its host as they come in; the fields
// of the other protocols are bounded in bytes by net/http, and counted here.
func limitHead(limits conf.Limits) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case int64(len(r.RequestURI)) > limits.URIBytes:
				fail(w, r, errURITooLong)
			case r.ProtoMajor > 1 && !isWellFormed(r):
				fail(w, r, errMalformed)
			case r.ProtoMajor > 1 && lines(r.Header) > limits.HeaderLines:
				fail(w, r, errTooManyLines)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// isWellFormed says of a request of HTTP/2 or HTTP/3 what HTTP/1 is refused for while it comes in: that its target, its
// host and its length are such that no backend can take them for something else (RFC 9113, 8.1.1 and 8.3.1).
func isWellFormed(r *http.Request) bool {
	if !http1.IsHost(r.Host) || strings.ContainsFunc(r.RequestURI, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return false
	}
	if r.Method != http.MethodConnect && !strings.HasPrefix(r.RequestURI, "/") && r.RequestURI != "*" {
		return false
	}
	lengths := r.Header["Content-Length"]
	return len(lengths) == 0 || len(lengths) == 1 && lengths[0] == strconv.FormatInt(r.ContentLength, 10)
}

func lines(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}
