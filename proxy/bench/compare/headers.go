package compare

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ignored are the headers of the moment, of the server, and of the way: they say nothing of the application.
var ignored = map[string]bool{
	"Date": true, "Server": true, "X-Powered-By": true, "Connection": true, "Keep-Alive": true, "Transfer-Encoding": true,
	"Age": true, "Alt-Svc": true, "Via": true, "X-Request-Id": true, "X-Correlation-Id": true, "X-Trace-Id": true,
	"Traceparent": true, "Tracestate": true, "Server-Timing": true, "X-Runtime": true, "X-Response-Time": true,
	"X-Debug-Token": true, "X-Debug-Token-Link": true, "Phpdebugbar-Id": true, "X-Amzn-Trace-Id": true, "X-Served-By": true,
}

// ofBody are headers that follow from the body.
var ofBody = map[string]bool{
	"Content-Length": true, "Etag": true, "Content-Md5": true, "Digest": true, "Content-Digest": true, "Content-Type": true,
}

// headers compares them, in any order. other says that the bodies are not the same, so that neither is what follows from
// them.
func (c *comparison) headers(other bool) {
	for _, name := range headerNames(c.a.Header, c.b.Header) {
		a, b := slices.Sorted(slices.Values(c.a.Header[name])), slices.Sorted(slices.Values(c.b.Header[name]))
		path := "header " + cut(name, 60)
		switch {
		case name == "Set-Cookie", slices.Equal(a, b), name == "Content-Type" && mediaType(c.a) != mediaType(c.b):
		case ignored[name]:
			c.mask("header", path)
		case matchAny(c.masks.headers, name):
			c.mask("header "+name, path)
		case ofBody[name] && (other || name == "Content-Type" && sameType(a, b)):
			c.mask("follows from the body", path)
		case name == "X-Ratelimit-Remaining", name == "X-Ratelimit-Reset", name == "Retry-After":
			c.differ(Limiter, path, strings.Join(a, ", "), strings.Join(b, ", "))
		case len(a) == 0 || len(b) == 0:
			c.differ(Missing, path, present(a), present(b))
		default:
			c.header(name, path, strings.Join(a, ", "), strings.Join(b, ", "))
		}
	}
}

// sameType says whether two content types are one in other letters; the type itself has been compared.
func sameType(a, b []string) bool {
	fold := func(all []string) string {
		return strings.ReplaceAll(strings.ToLower(strings.Join(all, ",")), " ", "")
	}
	return fold(a) == fold(b)
}

func present(values []string) string {
	if len(values) > 0 {
		return shown(strings.Join(values, ", "))
	}
	return ""
}

func headerNames(headers ...http.Header) (names []string) {
	for _, h := range headers {
		for name := range h {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (c *comparison) header(name, path, a, b string) {
	if name == "Location" {
		c.location(path, a, b)
		return
	}
	if len(a) > maxHeader || len(b) > maxHeader {
		c.differ(Header, path, a, b)
		return
	}
	c.value(Header, path, a, b)
}

// maxHeader is how long a header may be for masks to be looked for in it.
const maxHeader = 64 << 10

// value compares two short texts, with masks.
func (c *comparison) value(kind Kind, path, a, b string) {
	var by []string
	left := c.masks.maskValue(a, c.a.At, func(mask string) { by = append(by, mask) })
	right := c.masks.maskValue(b, c.b.At, func(string) {})
	if left != right {
		c.differ(kind, path, a, b)
		return
	}
	for _, mask := range by[:min(len(by), 20)] {
		c.mask(mask, path)
	}
}

// location compares where redirects lead. Signatures and states in the query are never the same twice.
func (c *comparison) location(path, a, b string) {
	x, hiddenX := plainURL(a)
	y, hiddenY := plainURL(b)
	if x == y {
		mask := "spelling of a URL"
		if hiddenX || hiddenY {
			mask = "signature of a URL"
		}
		c.mask(mask, path)
		return
	}
	// Where a redirect leads is more than another header.
	before := len(c.outcome.Differences)
	c.value(Header, path, x, y)
	if len(c.outcome.Differences) > before {
		c.outcome.Differences[before].Severity = Major
	}
}

var fleeting = []string{"signature", "expires", "token", "state", "nonce", "code_challenge"}

// plainURL writes a URL in one way of those that mean the same, without what is fleeting in its query.
func plainURL(text string) (plain string, hidden bool) {
	u, err := url.Parse(text)
	if err != nil || len(text) > 8192 {
		return text, false
	}
	u.Host = strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
	query := u.Query()
	for _, name := range fleeting {
		if query.Has(name) {
			query.Set(name, "*")
			hidden = true
		}
	}
	u.RawQuery = query.Encode()
	if u.Host != "" && u.Path == "" {
		u.Path = "/"
	}
	return u.String(), hidden
}
