package proxy

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"gateway/proxy/identity"
	"gateway/proxy/observe"
	"gateway/proxy/static"
)

// site is one application: what answers for its hosts.
type site struct {
	name    string // the first host
	handler http.Handler
	named   bool // has a host of its own, not only "*", so that a certificate can be had
}

// ServeHTTP is the last step of the common chain: it finds the site, and the site's own chain goes on.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.find(r.Host)
	if s == nil {
		fail(w, r, errNoSite)
		return
	}
	observe.FromContext(r.Context()).Site = s.name
	s.handler.ServeHTTP(w, r)
}

// redirect sends clients of a plain listener to https, for hosts that have it. port is the one of the
// https listener, empty when there is none.
func (h *hosts) redirect(port string) layer {
	return func(next http.Handler) http.Handler {
		if port == "" {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			target, err := originForm(r)
			if identity.Scheme(r) == "https" || err != nil || !h.hasCertificate(r.Host) {
				next.ServeHTTP(w, r)
				return
			}
			w.Header()["Location"] = []string{"https://" + authority(r.Host, port) + target}
			w.WriteHeader(http.StatusPermanentRedirect)
		})
	}
}

// hasCertificate says whether hostport is a host that a site names.
func (h *hosts) hasCertificate(hostport string) bool {
	s := h.find(hostport)
	return s != nil && s != h.any
}

func authority(hostport, port string) string {
	host := hostname(hostport)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "443" {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// serveFiles answers from the public folder what is there, with the site's own headers, and refuses what must
// not be asked for.
func serveFiles(files *static.Files, headers []header) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			release, err := files.Release()
			if err != nil {
				fail(w, r, fmt.Errorf("%w: %w", errRelease, err))
				return
			}
			rec := observe.FromContext(r.Context())
			rec.Release = release
			h := w.Header()
			for _, own := range headers {
				h[own.name] = own.values
			}
			outcome, err := files.Serve(w, r, release)
			if outcome == static.NotMine {
				for _, own := range headers {
					delete(h, own.name)
				}
			}
			switch {
			case outcome == static.Aborted:
				rec.Static, rec.Err = true, err
				panic(http.ErrAbortHandler)
			case err != nil:
				fail(w, r, err)
			case outcome == static.Served:
				rec.Static = true
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// ServeHTTP sends the user to his variant.
func (s *split) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, cookie := s.choose(r)
	if cookie != nil {
		http.SetCookie(w, cookie)
	}
	if s.overrideHeader != "" {
		r.Header.Del(s.overrideHeader)
	}
	rec := observe.FromContext(r.Context())
	if v != s.app {
		rec.Variant = v.name
		if r = v.forward.attempt(w, r); r == nil {
			return
		}
		// The user keeps his point, and so his variant, for when it is back.
		rec.Note = "variant cannot be reached, app answers"
		if !isUpgrade(r) {
			defer r.Body.Close() // it may be refused before it is sent
		}
	}
	rec.Variant = s.app.name
	s.app.forward.ServeHTTP(w, r)
}
