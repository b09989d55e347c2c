package meter

import "strings"

// configValues reads what Laravel's config:cache wrote, a nest of arrays as var_export prints them, and returns the
// plain values of the paths that are wanted, such as app.debug. It keeps nothing else: there are passwords in it.
func configValues(text string, wanted func(path string) bool) map[string]string {
	r := configReader{text: text, wanted: wanted, values: map[string]string{}}
	for r.next() {
	}
	return r.values
}

type configReader struct {
	text   string
	at     int
	path   []string // the keys of the arrays that are open
	key    string
	wanted func(string) bool
	values map[string]string
}

// next takes one token.
func (r *configReader) next() bool {
	if r.at >= len(r.text) {
		return false
	}
	switch c := r.text[r.at]; {
	case c == '\'' || c == '"':
		r.take(r.quoted(c))
	case c == '(':
		r.path, r.key = append(r.path, r.key), ""
		r.at++
	case c == ')':
		r.path = r.path[:max(len(r.path)-1, 0)]
		r.at++
	case isWord(c):
		start := r.at
		for r.at < len(r.text) && isWord(r.text[r.at]) {
			r.at++
		}
		r.take(r.text[start:r.at])
	default:
		r.at++
	}
	return true
}

// take uses a string or a word: as a key if it is one, as nothing if it names what the next bracket opens, and else as a
// value.
func (r *configReader) take(token string) {
	rest := strings.TrimLeft(r.text[r.at:min(r.at+80, len(r.text))], " \t\r\n")
	switch {
	case strings.HasPrefix(rest, "=>"):
		r.key = token
		return
	case strings.HasPrefix(rest, "("):
		return
	}
	path := r.key
	if len(r.path) > 1 { // the outermost array has no key
		path = strings.Join(r.path[1:], ".") + "." + r.key
	}
	if r.wanted(path) {
		r.values[path] = token
	}
}

// quoted reads a string and returns it without its quotes.
func (r *configReader) quoted(quote byte) string {
	var b strings.Builder
	for r.at++; r.at < len(r.text) && r.text[r.at] != quote; r.at++ {
		if r.text[r.at] == '\\' && r.at+1 < len(r.text) {
			r.at++
		}
		b.WriteByte(r.text[r.at])
	}
	r.at = min(r.at+1, len(r.text))
	return b.String()
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_\\:.+-", c) >= 0
}
