package limit

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDownFileOfArtisan(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Down
	}{
		{"plain", `{"except":[],"redirect":null,"retry":null,"refresh":null,"secret":null,"status":503,"template":null}`, Down{Status: 503}},
		{"all of it", `{"except":["api/*","\/"],"redirect":"\/soon","retry":60,"refresh":"15","secret":"let-me-in","status":500,"template":"<p>\u00fc"}`,
			Down{[]string{"api/*", "/"}, "/soon", "60", "15", "let-me-in", 500, "<p>ü"}},
		{"one exception", `{"except":"api"}`, Down{Except: []string{"api"}, Status: 503}},
		{"retry with a date", `{"retry":"Wed, 21 Oct 2026 07:28:00 GMT"}`, Down{Retry: "Wed, 21 Oct 2026 07:28:00 GMT", Status: 503}},
		{"half of it", `{"except":[],"redir`, Down{Status: 503}},
		{"nothing", ``, Down{Status: 503}},
		{"no table", `[1]`, Down{Status: 503}},
		{"status that is none", `{"status":99}`, Down{Status: 503}},
		{"a header in a header", `{"redirect":"/a\r\nX: y","retry":"1\n2","refresh":"\u0000"}`, Down{Status: 503}},
		{"other types", `{"except":{"a":1},"redirect":[],"secret":true,"template":{}}`, Down{Status: 503}},
	} {
		if got := ParseDown([]byte(c.in)); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
	}
}

func TestJudgement(t *testing.T) {
	now := time.Unix(2e9, 0)
	good := NewBypass("key", "http", now).Value
	all := Down{Except: []string{"/api/*", "status", "https://shop.example/about?a=1", "/"}, Redirect: "/soon", Secret: "key"}
	without := func(change func(*Down)) *Down {
		d := all
		change(&d)
		return &d
	}
	for _, c := range []struct {
		name           string
		down           *Down
		target, cookie string
		want           Verdict
	}{
		{"plain", &Down{}, "/", "", Refuse},
		{"redirect", &all, "/cart", "", Send},
		{"target of the redirect", &all, "/soon/?a", "", Refuse},
		{"redirect to the first page", &Down{Redirect: "/"}, "/", "", Refuse},
		{"secret", &all, "/key", "", Grant},
		{"secret with a query", &all, "/key?utm=1", "", Grant},
		{"secret behind the script", &all, "/index.php/key", "", Grant},
		{"no secret", &Down{}, "/", good, Refuse},
		{"part of the secret", &all, "/ke", "", Send},
		{"cookie", &all, "/cart", good, Pass},
		{"cookie of another secret", without(func(d *Down) { d.Secret = "other" }), "/cart", good, Send},
		{"path that is excepted", &all, "/status", "", Pass},
		{"path below one", &all, "/api/users/1?x", "", Pass},
		{"path in escapes", &all, "/%61pi/x", "", Pass},
		{"path beside one", &all, "/apis", "", Send},
		{"path that is one in other letters", &all, "/Status", "", Send},
		{"first page", &all, "/", "", Pass},
		{"whole URL", &all, "/about?a=1", "", Pass},
		{"another query", &all, "/about?a=2", "", Send},
		{"half an escape", &all, "/api/%4", "", Pass},
	} {
		if got := c.down.Judge(Asked{c.target, "https://shop.example", c.cookie}, now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"", "", true}, {"*", "", true}, {"*", "a/b", true}, {"a*", "a", true}, {"a*", "ba", false},
		{"*a", "ba", true}, {"*a", "ab", false}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "a-c-b", false}, {"a*a", "a", false},
		{"a**b", "ab", true}, {"a.c", "abc", false}, {"*aab", "aaab", true},
	} {
		if got := matches(c.pattern, c.text); got != c.want {
			t.Errorf("%q of %q = %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
}

func TestDownFileComesAndGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "down")
	var f DownFile
	if f.Read(path) != nil {
		t.Error("down without a file")
	}
	put := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for _, secret := range []string{"one", "two"} { // of one length, and maybe of one tick of the clock
		put(`{"secret":"`+secret+`"}`, 0)
		if d := f.Read(path); d == nil || d.Secret != secret {
			t.Errorf("%+v, want secret %s", d, secret)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if f.Read(path) != nil {
		t.Error("down after the file has gone")
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if f.Read(path) != nil {
		t.Error("down because of a folder")
	}
}

func TestDownFileIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "down")
	if err := os.WriteFile(path, []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	f := DownFile{now: func() time.Time { return time.Now().Add(time.Hour) }}
	if first := f.Read(path); first == nil || f.Read(path) != first {
		t.Error("want the file read, and read once")
	}
}

func FuzzDown(f *testing.F) {
	for _, seed := range []string{`{"except":["a/*"],"redirect":"/a","retry":1e9,"secret":"s","status":503,"template":"x"}`, "null", `{"except":{}}`, "{"} {
		f.Add(seed, "/a/%zz?b")
	}
	f.Fuzz(func(t *testing.T, file, target string) {
		d := ParseDown([]byte(file))
		for _, value := range []string{d.Redirect, d.Retry, d.Refresh} {
			if strings.ContainsAny(value, "\r\n\x00") {
				t.Errorf("%q has no place in a header", value)
			}
		}
		if d.Status < 200 || d.Status > 599 {
			t.Errorf("status = %d", d.Status)
		}
		verdict := d.Judge(Asked{Target: target, Origin: "http://x"}, time.Now())
		if verdict == Grant && d.Secret == "" || verdict == Send && d.Redirect == "" || verdict == Pass && len(d.Except) == 0 {
			t.Errorf("%+v: %d for %q", d, verdict, target)
		}
		if pattern := "*" + target + "*"; !slices.ContainsFunc([]string{target, "x" + target}, func(s string) bool { return matches(pattern, s) }) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}

func BenchmarkNotDown(b *testing.B) {
	var f DownFile
	path := filepath.Join(b.TempDir(), "storage/framework/down")
	b.ReportAllocs()
	for b.Loop() {
		f.Read(path)
	}
}
