package compare

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// MaskConfig is what an operator allows to differ, beside what is built in.
type MaskConfig struct {
	// Paths are places in JSON, such as "data[*].updated_at". A * stands for one key or index, ** for any number of them.
	Paths []string
	// Patterns are regular expressions (RE2); what they match in a text, a value or a header may differ.
	Patterns []string
	// Headers are names of headers that may differ. A * stands for any letters.
	Headers []string
	// Cookies are names of cookies whose values may differ. A * stands for any letters.
	Cookies []string
	// Unordered are places of arrays in JSON, written as in Paths, whose order does not matter.
	Unordered []string
	// Key makes the hashes that stand for secrets: equal keys make equal hashes. Empty means one that is drawn.
	Key []byte
}

// Masks say what may differ without being a difference. They do not change and may be used concurrently.
type Masks struct {
	paths     []pattern
	unordered []pattern
	regexps   []*regexp.Regexp
	headers   []string
	cookies   []string
	key       []byte
}

// NewMasks checks the configuration. The zero value of it means what is built in for Laravel, and no more.
func NewMasks(cfg MaskConfig) (*Masks, error) {
	m := &Masks{
		paths: patterns(cfg.Paths), unordered: patterns(cfg.Unordered), key: cfg.Key,
		cookies: append([]string{"*_session", "*-session", "XSRF-TOKEN", "remember_*"}, cfg.Cookies...),
	}
	for _, expression := range cfg.Patterns {
		re, err := regexp.Compile(expression)
		if err != nil {
			return nil, fmt.Errorf("mask %q: %w", expression, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("mask %q: it matches nothing at all, and so would everything", expression)
		}
		m.regexps = append(m.regexps, re)
	}
	for _, name := range cfg.Headers {
		m.headers = append(m.headers, http.CanonicalHeaderKey(name))
	}
	for _, glob := range append(append([]string{}, m.headers...), m.cookies...) {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("mask %q: %w", glob, err)
		}
	}
	if len(m.key) == 0 {
		m.key = make([]byte, 32)
		rand.Read(m.key)
	}
	return m, nil
}

func matchAny(globs []string, name string) bool {
	for _, glob := range globs {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}

// volatile finds, within a longer text, what is never the same twice.
var volatile = regexp.MustCompile(strings.Join([]string{
	`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`,
	`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`,
	`\b1\d{9}(?:\d{3}|\.\d{1,6})?\b`,
	`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`,
	`\b[0-9a-f]{40}\b`,
	`\beyJ[\w-]+\.[\w-]+\.[\w-]*`,
	`\beyJ[A-Za-z0-9+/]{40,}={0,2}`,
	`\b[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}\b`,
	`-[\w-]{8}\.(?:m?js|css|map|svg|png|jpe?g|webp|avif|gif|ico|woff2?|ttf)\b`,
	`\?id=[0-9a-f]{20,32}\b`,
	`\bnonce-[A-Za-z0-9+/=_-]{8,}`,
	`(?i:csrf[-_]?token|_token)["']?\s*[:=]\s*["'][A-Za-z0-9]{40}["']`,
}, "|"))

// maskText replaces what is volatile in a text by words for it. seen is told the name of each mask that was used.
func (m *Masks) maskText(text string, at time.Time, seen func(mask string)) string {
	if mayBeVolatile(text) {
		text = volatile.ReplaceAllStringFunc(text, func(found string) string {
			name, to := volatileName(found, at)
			if name == "" {
				return found
			}
			seen(name)
			return to
		})
	}
	for _, re := range m.regexps {
		text = re.ReplaceAllStringFunc(text, func(string) string {
			name := "pattern " + re.String()
			seen(name)
			return "<" + name + ">"
		})
	}
	return text
}

// mayBeVolatile is a quick look at whether the expression is worth its time.
func mayBeVolatile(text string) bool {
	return strings.ContainsAny(text, "0123456789") || strings.Contains(text, "nonce-") || strings.Contains(text, "eyJ") ||
		strings.Contains(text, "oken")
}

// volatileName names what volatile has found, and what to write in its place; "" when it is none after all.
func volatileName(found string, at time.Time) (name, to string) {
	switch {
	case strings.HasPrefix(found, "nonce-"):
		return "nonce", "nonce-<nonce>"
	case strings.HasPrefix(found, "?id="):
		return "asset hash", "?id=<hash>"
	case found[0] == '-':
		return assetName(found)
	case strings.Contains(strings.ToLower(found), "token"):
		return "CSRF token", "<csrf token>"
	}
	shape := shapeOf(found, at)
	return firstWord(shape), "<" + shape + ">"
}

// assetName masks the hash of a file that Vite has built. A word of eight letters is none.
func assetName(found string) (name, to string) {
	hash, extension := found[1:9], found[9:]
	if !strings.ContainsAny(hash, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return "", ""
	}
	return "asset hash", "-<hash>" + extension
}
