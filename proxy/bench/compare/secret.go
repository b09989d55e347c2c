package compare

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxSample is how much of a value is kept, in bytes.
const maxSample = 200

// secrets finds what must not be kept of a text: addresses, tokens, and values behind names that say so.
var secrets = regexp.MustCompile(strings.Join([]string{
	`[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+`,
	`\beyJ[\w+/=.-]{20,}`,
	`\b[A-Za-z0-9]{32,128}\b`,
	`(?i)(?:password|passwd|_token|csrf|card|iban|email|authorization|bearer|cookie|secret|api[-_]?key)[\w-]*["']?\s*[:= ]\s*["']?[^\s"'<>&;,]+`,
	`\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}\b`,
	`\b\d(?:[ -]?\d){12,18}\b`,
}, "|"))

// hash stands for a secret: equal secrets have equal hashes, as long as the key is the same.
func (m *Masks) hash(secret string) string {
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(secret))
	return "#" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// sample makes a value fit to be kept.
func (m *Masks) sample(path, value string) string {
	if value == "" {
		return ""
	}
	if isSecret(path) {
		return m.hash(value)
	}
	// Twice as much is looked at, lest a secret be cut in half and not be recognised.
	value = secrets.ReplaceAllStringFunc(cut(value, 2*maxSample), m.hash)
	return cut(value, maxSample)
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf {
		s = s[:len(s)-1]
	}
	return s + "..."
}

// isSecret says whether the last name of a path is that of a secret.
func isSecret(path string) bool {
	path = strings.ToLower(path)
	if strings.HasPrefix(path, "cookie ") {
		return !strings.Contains(path, "@")
	}
	for _, name := range []string{"header cookie", "header set-cookie", "header authorization", "header x-csrf", "header x-xsrf"} {
		if strings.HasPrefix(path, name) {
			return true
		}
	}
	last := path[strings.LastIndexAny(path, ".@ /")+1:]
	last = strings.Trim(last, `"[]*`)
	for _, start := range []string{"password", "card", "_token", "csrf", "iban", "email", "secret", "api_key", "token", "access_token", "remember_token"} {
		if strings.HasPrefix(last, start) {
			return true
		}
	}
	return strings.HasSuffix(last, "password") || strings.HasSuffix(last, "email") || strings.HasSuffix(last, "iban") || strings.HasSuffix(last, "token")
}
