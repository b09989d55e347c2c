package observe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/zap"
)

func TestCleanEscapesWhatDoesNotPrint(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", `Mozilla/5.0 "quoted" \ back`, `Mozilla/5.0 "quoted" \ back`},
		{"other scripts", "naïve 日本 🙂", "naïve 日本 🙂"},
		{"line break", "a\r\nb", `a\r\nb`},
		{"terminal escape", "\x1b[2J", `\x1b[2J`},
		{"delete", "a\x7f", `a\x7f`},
		{"eight-bit terminal escape", "a\u009b31m", `a\u009b31m`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"reading direction", "a\u202eb", `a\u202eb`},
		{"invalid UTF-8", "a\xff\xc0b", `a\xff\xc0b`},
		{"NUL", "\x00", `\x00`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := clean(c.in); got != c.want {
				t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanBoundsLength(t *testing.T) {
	got := clean(strings.Repeat("é", maxText))
	if len(got) > maxText+len("...") || !strings.HasSuffix(got, "...") {
		t.Errorf("length %d, end %q", len(got), got[len(got)-5:])
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\xff", "\u202e", "\uFFFD", "\x1b[0m", "ok"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			t.Errorf("clean(%q) = %q", s, got)
		}
	})
}

// A client that can start a line of its own in the log can make up visitors who were never there.
func TestClientCannotForgeALine(t *testing.T) {
	const forged = "x\n2026-01-01T00:00:00.000Z\tINFO\trequest\t{\"status\":200}\r\x1b[1A\u2028\xff"
	for _, format := range []string{"console", "json"} {
		t.Run(format, func(t *testing.T) {
			logs := newSink()
			o, err := New(Config{Log: logs.logger(t, format)})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.Method, r.Host, r.RequestURI, r.Proto, r.RemoteAddr = forged, forged, forged, forged, forged
			r.Header = http.Header{"User-Agent": {forged}, "Referer": {forged}}
			o.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				FromContext(r.Context()).Stderr = []string{forged}
			})).ServeHTTP(httptest.NewRecorder(), r)
			wantOneLine(t, logs.next(t))
		})
	}
}

func TestMessageOfALibraryCannotForgeALine(t *testing.T) {
	logs := newSink()
	zap.NewStdLog(logs.logger(t, "console").With(zap.Int("a", 1))).Print("bad\n2026-01-01 INFO\trequest\x1b[1A")
	wantOneLine(t, logs.next(t))
}

func wantOneLine(t *testing.T, line string) {
	t.Helper()
	body, ok := strings.CutSuffix(line, "\n")
	if !ok || strings.ContainsAny(body, "\n\r\x1b\u2028") || !utf8.ValidString(body) {
		t.Errorf("not one clean line: %q", line)
	}
}
