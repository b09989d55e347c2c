package compare

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

const (
	maxCookies    = 100
	expiresWithin = 2 * time.Second
)

// cookies compares those that are set: which, with which attributes, and the values of those that Laravel does not
// encrypt. One name may be set several times.
func (c *comparison) cookies() {
	a, b := setCookies(c.a.Header), setCookies(c.b.Header)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			c.differ(Missing, cookiePath(a[0]), shown(a[0].Value), "")
			a = a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			c.differ(Missing, cookiePath(b[0]), "", shown(b[0].Value))
			b = b[1:]
		default:
			c.cookie(a[0], b[0])
			a, b = a[1:], b[1:]
		}
	}
}

func cookiePath(cookie *http.Cookie) string { return "cookie " + cut(cookie.Name, 60) }

// setCookies parses the header. What is no cookie is kept under its own text, so that it is compared all the same.
func setCookies(h http.Header) (all []*http.Cookie) {
	for _, text := range h["Set-Cookie"][:min(len(h["Set-Cookie"]), maxCookies)] {
		cookie, err := http.ParseSetCookie(text)
		if err != nil {
			cookie = &http.Cookie{Name: "(not a cookie)", Value: text}
		}
		all = append(all, cookie)
	}
	slices.SortStableFunc(all, func(a, b *http.Cookie) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (c *comparison) cookie(a, b *http.Cookie) {
	path := cookiePath(a)
	if a.Value != b.Value {
		if matchAny(c.masks.cookies, a.Name) && (a.Value == "") == (b.Value == "") {
			c.mask("cookie", path)
		} else {
			c.value(Cookie, path, a.Value, b.Value)
		}
	}
	for _, attribute := range []struct{ name, a, b string }{
		{"path", a.Path, b.Path}, {"domain", a.Domain, b.Domain}, {"secure", yes(a.Secure), yes(b.Secure)},
		{"httponly", yes(a.HttpOnly), yes(b.HttpOnly)}, {"samesite", sameSite(a), sameSite(b)},
		{"max-age", itoa(a.MaxAge), itoa(b.MaxAge)}, {"partitioned", yes(a.Partitioned), yes(b.Partitioned)},
	} {
		if attribute.a != attribute.b {
			c.differ(Cookie, path+"@"+attribute.name, shown(attribute.a), shown(attribute.b))
		}
	}
	c.expires(path+"@expires", a, b)
}

func yes(set bool) string {
	if set {
		return "yes"
	}
	return "no"
}

func sameSite(cookie *http.Cookie) string {
	return map[http.SameSite]string{http.SameSiteLaxMode: "Lax", http.SameSiteStrictMode: "Strict", http.SameSiteNoneMode: "None"}[cookie.SameSite]
}

// expires compares how long from its answer on a cookie lives.
func (c *comparison) expires(path string, a, b *http.Cookie) {
	lived := b.Expires.Sub(a.Expires) - c.b.At.Sub(c.a.At)
	switch {
	case a.RawExpires == b.RawExpires:
	case a.Expires.IsZero() || b.Expires.IsZero() || lived.Abs() > expiresWithin:
		c.differ(Cookie, path, a.RawExpires, b.RawExpires)
	default:
		c.mask("time", path)
	}
}
