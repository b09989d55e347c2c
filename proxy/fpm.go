package proxy

import (
	"context"
	"net/http"
	"strings"

	"gateway/fastcgi"
	"gateway/proxy/identity"
	"gateway/proxy/observe"
)

// fpm speaks FastCGI to PHP-FPM, which runs the site's front controller for every request.
type fpm struct {
	script     string // "/index.php"
	serverName string // empty: the host the client asked for
	params     []fastcgi.Param
	named      bool // the site knows its users by name
}

var hiddenOfFPM = []string{"X-Powered-By", "X-Accel-Buffering"}

func (f *fpm) hidden() []string { return hiddenOfFPM }

func (f *fpm) request(ctx context.Context, r *http.Request, target string) (*http.Request, func() []string, error) {
	if len(r.Header["Authorization"]) > 1 {
		return nil, nil, errRepeated // PHP would get a list of both
	}
	removeHopByHop(r.Header)
	// The release in which the public folder was looked through, even if another has been deployed since.
	env := f.env(r, target, observe.FromContext(ctx).Release)
	out := r.WithContext(fastcgi.WithEnv(ctx, env))
	out.TransferEncoding = nil
	return out, env.Stderr, nil
}

func (f *fpm) env(r *http.Request, target, release string) *fastcgi.Env {
	client := identity.Of(r)
	env := &fastcgi.Env{
		Root: release, Script: f.script, RequestURI: target,
		ServerName: f.serverName, ServerPort: client.ServerPort, Scheme: client.Scheme,
		RemoteAddr: client.Addr, RemotePort: client.Port, Params: f.params,
	}
	if user := f.user(r); user != "" {
		// Before those of the operator, which win.
		env.Params = append([]fastcgi.Param{{Name: "REMOTE_USER", Value: user}, {Name: "AUTH_TYPE", Value: "Basic"}}, f.params...)
	}
	if env.ServerName == "" {
		env.ServerName = hostname(r.Host)
	}
	env.ServerAddr, _ = identity.Local(r)
	return env
}

// user is who was let in by name and password.
func (f *fpm) user(r *http.Request) string {
	if !f.named {
		return ""
	}
	return userOf(r)
}

// mediaType is the type and subtype of a Content-Type, in lower case.
func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
