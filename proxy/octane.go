package proxy

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// octane speaks to an application server over HTTP/1.1 and tells it what Octane's own page for Nginx
// does, and the scheme, host and port as well.
type octane struct {
	index string // path of the front controller
}

var hiddenOfOctane = []string{"X-Accel-Buffering"}

func (*octane) hidden() []string { return hiddenOfOctane }

func (o *octane) request(ctx context.Context, r *http.Request, target string) (*http.Request, func() []string, error) {
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
	out.RequestURI = o.target(r, target)
	out.TransferEncoding = nil
	return out, nil, nil
}

// target is the root for the front controller: Octane knows no scripts and would route the path of one.
func (o *octane) target(r *http.Request, target string) string {
	if r.URL.Path != o.index {
		return target
	}
	_, query, asked := strings.Cut(target, "?")
	if !asked {
		return "/"
	}
	return "/?" + query
}

// tellOrigin sets what the application must know of the client. The names in capitals are those of
// Octane's page; it lifts them out of the HTTP_ names, so clients' own spellings were taken out before.
func tellOrigin(h http.Header, r *http.Request) {
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	scheme, port := origin(r)
	h["X-Forwarded-For"] = []string{client}
	h["X-Forwarded-Proto"] = []string{scheme}
	h["X-Forwarded-Host"] = []string{r.Host}
	h["X-Forwarded-Port"] = []string{portOf(r.Host, scheme)}
	h["Scheme"] = []string{scheme}
	h["SERVER_PORT"] = []string{port}
	h["REMOTE_ADDR"] = []string{client}
}

// portOf returns the port that the client wrote, or that of the scheme. The one that this machine listens
// on is another behind a mapping, such as that of a container, and Laravel builds its links with what it is told.
func portOf(host, scheme string) string {
	port := host[strings.LastIndexByte(host, ':')+1:]
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 && len(port) < len(host) {
		return port
	}
	return defaultPorts[scheme]
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// origin returns the scheme that the client used and the port that it came to.
func origin(r *http.Request) (scheme, port string) {
	scheme = "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return scheme, strconv.Itoa(addr.Port)
	}
	return scheme, defaultPorts[scheme]
}
