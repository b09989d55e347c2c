// Package compare says how two answers to the same request differ, and what it was told not to look at. It knows what
// Laravel puts into an answer that is never the same twice, and counts whatever it hides.
package compare

import (
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxBody is how much of a body is compared, in bytes. Longer ones are compared by Sum and Size.
const MaxBody = 1 << 20

// Answer is one of the two.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Size is the whole length in bytes, Sum a hash of all of it, made in the same way for both answers. They are needed only
	// when Truncated says that Body is not the whole.
	Size      int64
	Sum       [32]byte
	Truncated bool
	// At is when the answer was made, as near as that is known. Times in it that are at most 5 s off are masked. Zero masks
	// no time.
	At time.Time
}

// Kind is what differs.
type Kind string

// The kinds of differences. Those from ItemType on are found within bodies.
const (
	Status      Kind = "status"
	ContentType Kind = "content type"
	Length      Kind = "length" // one body is empty
	Header      Kind = "header"
	Limiter     Kind = "shared limiter" // both arms spend one rate limit
	Cookie      Kind = "cookie"
	ItemType    Kind = "type" // a number in one place of JSON, a string in the other
	Missing     Kind = "missing"
	Value       Kind = "value"
	Order       Kind = "order" // of an array that holds the same
	Whole       Kind = "body"  // of bodies that are compared as a whole
)

// Severity is how bad a difference is.
type Severity int

// The severities, in their order. The zero value is Note.
const (
	Note Severity = iota
	Minor
	Major
	Critical
)

func (s Severity) String() string { return [...]string{"note", "minor", "major", "critical"}[s] }

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var severities = map[Kind]Severity{
	Status: Major, ContentType: Major, Length: Critical, Header: Minor, Limiter: Note, Cookie: Major,
	ItemType: Major, Missing: Major, Value: Minor, Order: Minor, Whole: Major,
}

// Difference is one. A and B are what the answers have, cut to a few characters and with secrets replaced by hashes that
// are equal where the secrets are; they are empty where an answer has nothing.
type Difference struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	// Path is where: "status", "header X-Foo", "cookie shop_session@path", "data[*].updated_at", "html/body/p". Indices of
	// arrays and keys that are numbers or ids are written as *, so that the same place has the same path in all answers.
	Path string `json:"path"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Masked is a difference that a mask has hidden.
type Masked struct {
	Mask  string `json:"mask"`
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Outcome is what a comparison has found.
type Outcome struct {
	Differences []Difference `json:"differences,omitempty"`
	Masked      []Masked     `json:"masked,omitempty"`
	// More is how many differences are not in Differences, because there were too many.
	More int `json:"more,omitempty"`
	// Uncompared says why bodies were held against each other as a whole only. Empty is the usual.
	Uncompared string `json:"uncompared,omitempty"`
}

// Equal says that nothing differs but what is masked.
func (o *Outcome) Equal() bool { return len(o.Differences) == 0 }

// Compare compares two answers. Arrays at one of the paths of unordered may be in any order; see Noise.Permuted. It may be
// called concurrently and changes neither answer. What it takes in time and memory is bounded, whatever the bodies hold.
func (m *Masks) Compare(a, b *Answer, unordered ...string) *Outcome {
	c := &comparison{masks: m, a: a, b: b, outcome: &Outcome{}, unordered: patterns(unordered)}
	if !c.status() {
		return c.outcome
	}
	same := c.contentType()
	if same {
		same = c.length()
	}
	// What the header says of the body follows from the body, and so is compared after it.
	hidden := false
	if same {
		before := c.hidden
		c.body()
		hidden = c.hidden > before
	}
	c.headers(hidden || !same)
	c.cookies()
	return c.outcome
}

// comparison is one under way.
type comparison struct {
	masks     *Masks
	a, b      *Answer
	outcome   *Outcome
	unordered []pattern
	hidden    int
	index     map[Masked]int // in outcome.Masked
	lonely    map[lonely]int // start tags less end tags
}

const (
	maxDifferences = 100
	maxMasked      = 200
)

// differ adds a difference. a and b are not yet shortened.
func (c *comparison) differ(kind Kind, path, a, b string) {
	c.differAs(kind, severities[kind], path, a, b)
}

func (c *comparison) differAs(kind Kind, severity Severity, path, a, b string) {
	if len(c.outcome.Differences) >= maxDifferences {
		c.outcome.More++
		return
	}
	c.outcome.Differences = append(c.outcome.Differences, Difference{
		kind, severity, path, c.masks.sample(path, a), c.masks.sample(path, b),
	})
}

// mask counts something that is hidden.
func (c *comparison) mask(mask, path string) {
	c.hidden++
	if c.index == nil {
		c.index = map[Masked]int{}
	}
	key := Masked{Mask: mask, Path: path}
	i, ok := c.index[key]
	if !ok && len(c.outcome.Masked) >= maxMasked {
		key.Path = "(more)"
		i, ok = c.index[key]
	}
	if !ok {
		i = len(c.outcome.Masked)
		c.index[key] = i
		c.outcome.Masked = append(c.outcome.Masked, key)
	}
	c.outcome.Masked[i].Count++
}

// status says whether it is worth to look at the rest: another status has another body.
func (c *comparison) status() bool {
	a, b := c.a.Status, c.b.Status
	if a == b {
		return true
	}
	severity := Major
	if a/100 != b/100 {
		severity = Critical
	}
	c.differAs(Status, severity, "status", http.StatusText(a)+" "+itoa(a), http.StatusText(b)+" "+itoa(b))
	return false
}

func (c *comparison) contentType() bool {
	a, b := mediaType(c.a), mediaType(c.b)
	if a == b {
		return true
	}
	c.differ(ContentType, "header Content-Type", a, b)
	return false
}

// mediaType is the type without its parameters.
func mediaType(a *Answer) string {
	value := a.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(value); err == nil {
		return kind
	}
	return strings.ToLower(strings.TrimSpace(value))
}

func (c *comparison) length() bool {
	a, b := c.a.length(), c.b.length()
	if (a == 0) == (b == 0) {
		return a > 0
	}
	c.differ(Length, "body", itoa(int(a))+" bytes", itoa(int(b))+" bytes")
	return false
}

func (a *Answer) length() int64 {
	if a.Truncated {
		return max(a.Size, 1)
	}
	return int64(len(a.Body))
}

// form is how a body is compared.
type form int

const (
	asBytes form = iota
	asText
	asHTML
	asJSON
)

func formOf(kind string, body []byte) form {
	switch {
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return asJSON
	case kind == "text/html", kind == "application/xhtml+xml":
		return asHTML
	case kind == "":
		if trimmed := strings.TrimSpace(string(body[:min(len(body), 64)])); utf8.Valid(body) && trimmed != "" {
			if trimmed[0] == '{' || trimmed[0] == '[' {
				return asJSON
			}
			return asText
		}
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "xml"), strings.HasSuffix(kind, "javascript"):
		return asText
	}
	return asBytes
}
