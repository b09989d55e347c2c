package observe

import (
	"bytes"
	"strings"
)

const blanked = "***"

// BlankURI returns uri with the values of secrets replaced by ***: query parameters whose name speaks of
// a password, token, signature, key or session, however it is spelled or escaped, also inside an escaped
// address that is itself a value; a user and password before the host; and the token in the path of
// Laravel's password reset pages. Everything else stays byte for byte.
func BlankURI(uri string) string {
	if scheme := strings.Index(uri, "://"); scheme > 0 {
		uri = blankUser(uri, scheme+len("://"))
	}
	query := strings.IndexAny(uri, "?#;")
	if query < 0 {
		return blankPath(uri)
	}
	path, rest := blankPath(uri[:query]), blankQuery(uri[query+1:])
	if path == uri[:query] && rest == uri[query+1:] {
		return uri // without a copy, as nearly all are
	}
	return path + uri[query:query+1] + rest
}

// blankUser blanks what stands between from, where the authority begins, and its last @.
func blankUser(uri string, from int) string {
	authority := uri[from:]
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return uri
	}
	return uri[:from] + blanked + uri[from+at:]
}

func blankPath(path string) string {
	for _, page := range [...]string{"/reset-password/", "/password/reset/"} {
		if i := strings.Index(path, page); i >= 0 {
			return blankSegment(path, i+len(page))
		}
	}
	return path
}

func blankSegment(path string, from int) string {
	if from == len(path) {
		return path
	}
	_, rest, more := strings.Cut(path[from:], "/")
	if more {
		rest = "/" + rest
	}
	return path[:from] + blanked + rest
}

// blankQuery copies only if there is something to blank.
func blankQuery(query string) string {
	var out []byte
	kept := 0
	eachPair(query, func(name, value string, from, to int) bool {
		if isSecretName(name) || strings.Contains(value, "%") && holdsSecret(value) {
			out = append(out, query[kept:from]...)
			out = append(out, blanked...)
			kept = to
		}
		return true
	})
	if out == nil {
		return query
	}
	return string(append(out, query[kept:]...))
}

// eachPair calls f with each name and value that is not empty, and with where the value lies, until f
// says false. Besides & it takes every byte for a separator that some parser takes for one: to cut too
// often hides more, never less.
func eachPair(query string, f func(name, value string, from, to int) bool) {
	for start := 0; start < len(query); {
		end := len(query)
		if i := strings.IndexAny(query[start:], "&;?#"); i >= 0 {
			end = start + i
		}
		name, value, _ := strings.Cut(query[start:end], "=")
		if value != "" && !f(name, value, end-len(value), end) {
			return
		}
		start = end + 1
	}
}

// holdsSecret looks for secret pairs inside a value that is itself an escaped address, perhaps more than once.
func holdsSecret(value string) bool {
	const deepest = 3
	found := false
	for range deepest {
		plain := string(unescape(nil, value))
		if found || plain == value {
			break
		}
		eachPair(plain, func(name, _ string, _, _ int) bool {
			found = isSecretName(name)
			return !found
		})
		value = plain
	}
	return found
}

// Names are compared without case and without anything but letters and digits, since PHP makes
// api_key of "api.key" and of "api key".
func isSecretName(name string) bool {
	var space [64]byte
	plain := squeeze(unescape(space[:0], name))
	switch string(plain) {
	case "pass", "pwd", "pin", "otp", "sig", "auth", "key", "code", "sid":
		return true
	}
	for i, first := range plain {
		for _, part := range secretParts[first] {
			if bytes.HasPrefix(plain[i:], part) {
				return true
			}
		}
	}
	return false
}

// secretParts are found by their first letter: a dozen searches through each name were most of the cost of an
// access line's addresses.
var secretParts = func() (by [256][][]byte) {
	for _, part := range []string{
		"token", "passw", "passphrase", "secret", "signature", "apikey", "accesskey", "privatekey", "credential",
		"sess", "authorization", "jwt",
	} {
		by[part[0]] = append(by[part[0]], []byte(part))
	}
	return by
}()

// squeeze keeps letters and digits, in lower case, in place.
func squeeze(b []byte) []byte {
	kept := b[:0]
	for _, c := range b {
		if !isAlphanumeric(c) {
			continue
		}
		if c <= 'Z' && c >= 'A' {
			c += 'a' - 'A'
		}
		kept = append(kept, c)
	}
	return kept
}

// unescape appends s without its percent escapes to dst. Broken escapes stay: applications read them so.
func unescape(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, low := hexValue(s[i+1]), hexValue(s[i+2])
			if high >= 0 && low >= 0 {
				dst = append(dst, byte(high<<4|low))
				i += 2
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
