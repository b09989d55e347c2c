package proxy

import (
	"errors"
	"net/http"
	"strings"
)

var errTarget = errors.New("the request target is not a path")

// originForm returns the request target as the client wrote it, in origin form: an absolute form loses its
// scheme and authority, nothing is decoded, cleaned or encoded anew.
func originForm(r *http.Request) (string, error) {
	target := r.RequestURI
	if r.Method == http.MethodConnect {
		return "", errTarget
	}
	if strings.HasPrefix(target, "/") {
		return target, nil
	}
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || strings.Contains(scheme, ":") {
		return "", errTarget
	}
	at := strings.IndexAny(rest, "/?")
	switch {
	case at < 0:
		return "/", nil
	case rest[at] == '?':
		return "/" + rest[at:], nil
	}
	return rest[at:], nil
}
