package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/limit"
)

// errNotAllowed is a client whose address the site's access keeps out.
var errNotAllowed = errors.New("the site's access keeps the client's address out")

// guards are what a request has to pass before anything of the site is shown, outermost first.
func (b *builder) guards(cfg conf.Site) ([]layer, error) {
	guards := []layer{promiseTLS(cfg.HSTS), restrict(cfg.Access)}
	if cfg.ClientCertificates.CA != "" {
		guards = append(guards, b.askCertificate)
	}
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
