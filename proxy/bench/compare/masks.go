package compare

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path"
	"regexp"
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

// maskText replaces what is volatile in a text by words for it. seen is told the name of each mask that was used.
func (m *Masks) maskText(text string, at time.Time, seen func(mask string)) string {
	text = maskVolatile(text, at, seen)
	for _, re := range m.regexps {
		text = re.ReplaceAllStringFunc(text, func(string) string {
			name := "pattern " + re.String()
			seen(name)
			return "<" + name + ">"
		})
	}
	return text
}
