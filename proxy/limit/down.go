package limit

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Down is an application that is down for maintenance: what Laravel's "artisan down" writes, or the same from a
// configuration. An empty string means that it is not set.
type Down struct {
	Except   []string // paths, or whole URLs, that the application answers nevertheless; * stands for anything
	Redirect string   // path that all others are sent to
	Retry    string   // Retry-After
	Refresh  string   // Refresh
	Secret   string   // path that gives a cookie to pass with
	Status   int      // of the answer
	Template string   // body of the answer, HTML
}

// ParseDown reads the file that "artisan down" writes. One that cannot be read, as when it is only half written, still
// means that the application is down, as it does to Laravel. What has no place in a header is left out.
func ParseDown(data []byte) *Down {
	var file map[string]any
	// What went wrong does not matter: the file is there.
	_ = json.Unmarshal(data, &file)
	d := &Down{
		Redirect: headerText(file["redirect"]), Retry: headerText(file["retry"]), Refresh: headerText(file["refresh"]),
		Secret: text(file["secret"]), Template: text(file["template"]), Status: http.StatusServiceUnavailable,
	}
	if status, ok := file["status"].(float64); ok && status >= 200 && status <= 599 {
		d.Status = int(status)
	}
	except, isList := file["except"].([]any)
	if !isList {
		except = []any{file["except"]}
	}
	for _, one := range except {
		if pattern := text(one); pattern != "" {
			d.Except = append(d.Except, pattern)
		}
	}
	return d
}

// text is a string, or a whole number in digits.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return ""
}

func headerText(value any) string {
	if s := text(value); !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return ""
}

// Asked is a request, as an application that is down looks at it.
type Asked struct {
	Target string // in origin form
	Origin string // scheme, "://" and host
	Cookie string // value of BypassCookie as the client sent it, empty for none
}

// Verdict is what becomes of a request while the application is down.
type Verdict int

// The verdicts: the application answers; the client gets a cookie to pass with and goes to the first page; it goes to
// Redirect; it is told that the application is down.
const (
	Pass Verdict = iota
	Grant
	Send
	Refuse
)

// Judge decides as Laravel does, which looks at the request again when it passes.
func (d *Down) Judge(a Asked, now time.Time) Verdict {
	path, query, _ := strings.Cut(a.Target, "?")
	path = strings.Trim(withoutScript(path), "/")
	switch {
	case d.Secret != "" && path == d.Secret:
		return Grant
	case d.Secret != "" && validBypass(a.Cookie, d.Secret, now), d.excepts(a.Origin, path, query):
		return Pass
	case d.Redirect != "" && path != strings.Trim(d.Redirect, "/"):
		return Send
	}
	return Refuse
}

// withoutScript takes the front controller off a path, as PHP does.
func withoutScript(path string) string {
	if rest, found := strings.CutPrefix(path, "/index.php"); found && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

// excepts looks for the path, decoded, and for the whole URL.
func (d *Down) excepts(origin, path, query string) bool {
	if len(d.Except) == 0 {
		return false
	}
	decoded, whole := decode(path), strings.TrimSuffix(origin+"/"+path, "/")
	if decoded == "" {
		decoded = "/"
	}
	if query != "" {
		whole += "?" + query
	}
	for _, pattern := range d.Except {
		if pattern != "/" {
			pattern = strings.Trim(pattern, "/")
		}
		if matches(pattern, decoded) || matches(pattern, whole) {
			return true
		}
	}
	return false
}

// decode takes %XX apart; what is no such thing stands for itself.
func decode(path string) string {
	if decoded, err := url.PathUnescape(path); err == nil {
		return decoded
	}
	return path
}

// matches says whether text is pattern, in which each * stands for any number of characters.
func matches(pattern, text string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], after
	}
}
