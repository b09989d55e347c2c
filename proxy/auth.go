package proxy

import (
	"context"
	"errors"
	"net/http"

	"gateway/proxy/identity"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
)

// errPassword is a client without a name and password that the site knows.
var errPassword = errors.New("no name and password that the site knows")

type userKey struct{}

// userOf is the name with which the client of r was let in, or empty.
func userOf(r *http.Request) string {
	name, _ := r.Context().Value(userKey{}).(string)
	return name
}

// askPassword lets in who has a name and a password that users has. The header goes on to the application, as it does
// behind nginx, so that one which looks for the name there still finds it.
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

// askAuthority lets in whom another service lets in, and passes on what it says to the others. Its answer to those it
// lets in stays here but for the headers to copy: a cookie in it would be set for whatever the client asked for.
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
