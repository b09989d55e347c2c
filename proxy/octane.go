package proxy

import (
	"context"
	"net"
	"net/http"
	"strconv"
)

// octane speaks to an application server over HTTP/1.1 and tells it what Octane's own page for Nginx
// does, and the scheme, host and port as well.
type octane struct{}

func (octane) hidden() []string { return []string{"X-Accel-Buffering"} }

func (octane) request(ctx context.Context, r *http.Request, target string) (*http.Request, func() []string, error) {
	upgrade := ""
	if isUpgrade(r) {
		upgrade = r.Header.Get("Upgrade")
	}
	h := r.Header
	removeHopByHop(h)
	if upgrade != "" {
		h["Connection"], h["Upgrade"] = []string{"upgrade"}, []string{upgrade}
	}
	tellOrigin(h, r)
	out := r.WithContext(ctx)
	out.RequestURI = target
	out.TransferEncoding = nil
	return out, nil, nil
}

// tellOrigin sets what the application must know of the client. The names in capitals are those of
// Octane's page; it lifts them out of the HTTP_ names, so clients' own spellings were taken out before.
func tellOrigin(h http.Header, r *http.Request) {
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	scheme, port := origin(r)
	h["X-Forwarded-For"] = []string{client}
	h["X-Forwarded-Proto"] = []string{scheme}
	h["X-Forwarded-Host"] = []string{r.Host}
	h["X-Forwarded-Port"] = []string{port}
	h["Scheme"] = []string{scheme}
	h["SERVER_PORT"] = []string{port}
	h["REMOTE_ADDR"] = []string{client}
}

// origin returns the scheme and the port that the client used.
func origin(r *http.Request) (scheme, port string) {
	scheme = "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return scheme, strconv.Itoa(addr.Port)
	}
	return scheme, map[string]string{"http": "80", "https": "443"}[scheme]
}
