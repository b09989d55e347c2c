package compare

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeSlack is how far a time in an answer may be from when the answer was made, and still be "now".
const timeSlack = 5 * time.Second

var (
	uuidShape  = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	ulidShape  = regexp.MustCompile(`^[0-7](?:[0-9A-HJKMNP-TV-Z]{25}|[0-9a-hjkmnp-tv-z]{25})$`)
	hex40Shape = regexp.MustCompile(`^[0-9a-f]{40}$`)
	epochShape = regexp.MustCompile(`^1\d{9}(\d{3}|\.\d{1,6})?$`)
)

// shapeOf names the shape of a value that is never the same twice, or is empty. Two values of equal shapes are not a
// difference: for a token, the shape holds what is to be the same in it.
func shapeOf(v string, at time.Time) string {
	switch {
	case len(v) < 10 || len(v) > 8192:
		return ""
	case uuidShape.MatchString(v):
		return "uuid"
	case ulidShape.MatchString(v):
		return "ulid"
	case hex40Shape.MatchString(v):
		return "hex40"
	case isNow(v, at):
		return "time"
	case strings.HasPrefix(v, "eyJ") && strings.Count(v, ".") == 2:
		return jwtShape(v)
	case strings.HasPrefix(v, "eyJ"):
		return encryptedShape(v)
	}
	return ""
}

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00", http.TimeFormat,
}

// isNow says whether v is a time within timeSlack of at.
func isNow(v string, at time.Time) bool {
	if at.IsZero() || len(v) > 40 {
		return false
	}
	if epochShape.MatchString(v) {
		n, err := strconv.ParseFloat(v, 64)
		if n >= 1e12 {
			n /= 1e3
		}
		return err == nil && near(time.Unix(0, int64(n*1e9)), at)
	}
	if strings.Count(v, ":") < 2 {
		return false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, v); err == nil {
			return near(t, at)
		}
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, v); err == nil {
			// No zone: that of the application, which is whole quarters of an hour off.
			const quarter = 15 * time.Minute
			off := t.Sub(at)
			return off.Abs() < 15*time.Hour && (off-off.Round(quarter)).Abs() <= timeSlack
		}
	}
	return false
}

func near(t, at time.Time) bool { return t.Sub(at).Abs() <= timeSlack }

// jwtShape holds the algorithm and the names of the claims: their values are of the moment.
func jwtShape(v string) string {
	parts := strings.Split(v, ".")
	head, claims := names(parts[0]), names(parts[1])
	if head == "" {
		return ""
	}
	return "jwt " + head + ": " + claims
}

// encryptedShape recognises what Laravel encrypts: with a fresh vector each time, equal content never has equal bytes.
func encryptedShape(v string) string {
	fields := names(v)
	if strings.Contains(fields, "iv") && strings.Contains(fields, "mac") && strings.Contains(fields, "value") {
		return "encrypted"
	}
	return ""
}

// names lists the keys of an object in JSON in base64, sorted.
func names(encoded string) string {
	encoded = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(encoded, "="))
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(plain, &object) != nil {
		return ""
	}
	var keys []string
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return strings.Join(keys, ",")
}

// isMeasure says whether a key names a number that is measured anew for each answer.
func isMeasure(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "duration") || strings.Contains(key, "elapsed") || key == "memory" ||
		strings.HasPrefix(key, "memory_") || strings.HasSuffix(key, "_memory")
}

// isToken says whether a key names a token of the session.
func isToken(key string) bool {
	switch strings.ToLower(key) {
	case "_token", "csrf_token", "csrf-token", "csrftoken":
		return true
	}
	return false
}
