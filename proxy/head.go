package proxy

import (
	"net/http"

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
			case r.ProtoMajor > 1 && !http1.IsHost(r.Host):
				fail(w, r, errHost)
			case r.ProtoMajor > 1 && lines(r.Header) > limits.HeaderLines:
				fail(w, r, errTooManyLines)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

func lines(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}
