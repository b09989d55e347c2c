package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
)

var (
	// errNotAllowed is a client whose address the site's access keeps out.
	errNotAllowed = errors.New("the site's access keeps the client's address out")
	// errPassword is a client without a name and password that the site knows.
	errPassword = errors.New("no name and password that the site knows")
	// errDisagree is a request for a host of another site than the connection was made for.
	errDisagree = errors.New("the host is one of another site than the name in the TLS handshake")
)

// guards are what a request has to pass before anything of the site is shown, outermost first.
func (b *builder) guards(cfg conf.Site) ([]layer, error) {
	guards := []layer{promiseTLS(cfg.HSTS), restrict(cfg.Access)}
	if len(cfg.Auth.Users) > 0 {
		hashes := make(map[string]string)
		for _, user := range cfg.Auth.Users {
			hashes[user.Name] = user.Hash
		}
		users, err := limit.NewUsers(hashes)
		if err != nil {
			return nil, fmt.Errorf("auth: %w", err)
		}
		guards = append(guards, askPassword(users, cfg.Auth.Realm))
	}
	if cfg.ForwardAuth.URL != "" {
		authority, err := limit.NewAuthority(limit.AuthorityConfig{
			URL: cfg.ForwardAuth.URL, Copy: cfg.ForwardAuth.Copy, Timeout: cfg.ForwardAuth.Timeout,
		})
		if err != nil {
			return nil, fmt.Errorf("forward_auth: %w", err)
		}
		b.state.asked = append(b.state.asked, authority)
		guards = append(guards, askAuthority(authority))
	}
	return guards, nil
}

const hstsHeader = "Strict-Transport-Security"

// promiseTLS tells browsers that came by https to do so ever after. Over http the header would count for nothing.
func promiseTLS(cfg conf.HSTS) layer {
	value := []string{"max-age=" + strconv.FormatInt(int64(cfg.MaxAge/time.Second), 10)}
	if cfg.Subdomains {
		value[0] += "; includeSubDomains"
	}
	if cfg.Preload {
		value[0] += "; preload"
	}
	return func(next http.Handler) http.Handler {
		if cfg.MaxAge == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if identity.Scheme(r) == "https" {
				w.Header()[hstsHeader] = value
			}
			next.ServeHTTP(w, r)
		})
	}
}

// restrict keeps addresses out.
func restrict(cfg conf.Access) layer {
	allow, deny := identity.NewSet(conf.Networks(cfg.Allow)), identity.NewSet(conf.Networks(cfg.Deny))
	return func(next http.Handler) http.Handler {
		if allow == nil && deny == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			addr := identity.IP(r)
			if deny.Has(addr) || allow != nil && !allow.Has(addr) {
				fail(w, r, errNotAllowed)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

type userKey struct{}

// userOf is the name with which the client of r was let in, or empty.
func userOf(r *http.Request) string {
	name, _ := r.Context().Value(userKey{}).(string)
	return name
}

// askPassword lets in who has a name and a password that users has.
func askPassword(users *limit.Users, realm string) layer {
	challenge := []string{`Basic realm="` + realm + `", charset="UTF-8"`}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, password, given := r.BasicAuth()
			ok, err := false, error(nil)
			if given && len(r.Header["Authorization"]) == 1 {
				ok, err = users.Check(r.Context(), identity.IP(r), name, password)
			}
			switch {
			case err != nil:
				fail(w, r, err)
			case !ok:
				w.Header()["Www-Authenticate"] = challenge
				fail(w, r, errPassword)
			default:
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, name)))
			}
		})
	}
}

// askAuthority lets in whom another service lets in, and passes on what it says to the others.
func askAuthority(authority *limit.Authority) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			target, err := originForm(r)
			if err != nil {
				fail(w, r, err)
				return
			}
			client := identity.Of(r)
			answer, err := authority.Ask(r.Context(), r.Header, limit.Question{
				Method: r.Method, Scheme: client.Scheme, Host: r.Host, URI: target, Client: client.Addr,
			})
			switch {
			case err != nil:
				fail(w, r, err)
			case answer != nil:
				refuse(w, r, answer)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

func refuse(w http.ResponseWriter, r *http.Request, answer *limit.Answer) {
	observe.FromContext(r.Context()).Note = "refused by forward_auth"
	removeHopByHop(answer.Header)
	delete(answer.Header, "Content-Length")
	h := w.Header()
	for name, values := range answer.Header {
		h[name] = values
	}
	if answer.Header["Content-Type"] == nil {
		h["Content-Type"] = nil // else net/http would guess one
	}
	w.WriteHeader(answer.Status)
	if r.Method != http.MethodHead {
		// A client that does not take it has nothing more to be told.
		_, _ = w.Write(answer.Body)
	}
}

// agree refuses a request whose host belongs to another site than the name that the TLS connection was made for: what
// was asked of the client then, such as a certificate, was asked for that site. Clients may use one connection for
// several hosts, and make one of their own when they are told so (RFC 9110, 15.5.20).
func (h *hosts) agree(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && r.TLS.ServerName != "" && r.TLS.ServerName != r.Host && h.find(r.TLS.ServerName) != h.find(r.Host) {
			fail(w, r, errDisagree)
			return
		}
		next.ServeHTTP(w, r)
	})
}
