package proxy

import (
	"context"
	"net/http"
	"strings"

	"gateway/proxy/identity"
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
	client := identity.Of(r)
	h["X-Forwarded-For"] = []string{client.Addr}
	h["X-Forwarded-Proto"] = []string{client.Scheme}
	h["X-Forwarded-Host"] = []string{r.Host}
	h["X-Forwarded-Port"] = []string{clientPort(r, &client)}
	h["Scheme"] = []string{client.Scheme}
	h["SERVER_PORT"] = []string{client.ServerPort}
	h["REMOTE_ADDR"] = []string{client.Addr}
}

// clientPort is the port that Laravel builds its links with: the one that a proxy names, or that the client wrote.
func clientPort(r *http.Request, client *identity.Client) string {
	if client.ForwardedPort != "" {
		return client.ForwardedPort
	}
	return identity.PortOf(r.Host, client.Scheme)
}
