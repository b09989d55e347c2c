package compare

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEveryPairOfStatusesIsFound(t *testing.T) {
	m := masks(t, MaskConfig{})
	all := []int{200, 204, 302, 401, 404, 419, 429, 500}
	for _, a := range all {
		for _, b := range all {
			o := m.Compare(&Answer{Status: a}, &Answer{Status: b})
			switch {
			case a == b && !o.Equal():
				t.Errorf("%d, %d: %s", a, b, said(o))
			case a != b && said(o) != "status status":
				t.Errorf("%d, %d: %s", a, b, said(o))
			case a != b && (o.Differences[0].Severity == Critical) != (a/100 != b/100):
				t.Errorf("%d, %d: %s", a, b, o.Differences[0].Severity)
			}
		}
	}
}

func TestAllContentTypesAreCompared(t *testing.T) {
	m := masks(t, MaskConfig{})
	for kind, want := range map[string]string{
		"text/plain": "value text", "text/csv": "value text", "application/xml": "value text", "image/svg+xml": "value text",
		"text/javascript": "value text", "application/pdf": "body body", "image/png": "body body", "": "value text",
		"application/octet-stream": "body body", "text/html": "value html", "application/problem+json": "value text",
		"not a type at all;;": "body body",
	} {
		if got := said(m.Compare(answer(kind, "one"), answer(kind, "two"))); got != want {
			t.Errorf("%q: %s, want %s", kind, got, want)
		}
		if got := m.Compare(answer(kind, "one"), answer(kind, "one")); said(got) != "" {
			t.Errorf("%q: %s", kind, said(got))
		}
	}
	expect(t, m, answer("text/html", "a"), answer("text/plain", "a"), "content type header Content-Type")
	expect(t, m, answer("text/html", "a"), answer("TEXT/html;charset=utf-8", "a"), "header header Content-Type")
	expect(t, m, answer("", `{"a":1}`), answer("", `{ "a" : 1 }`))
	expect(t, m, answer("", `{"a":1}`), answer("", `{"a":2}`), "value a")
}

func TestEmptyBody(t *testing.T) {
	m := masks(t, MaskConfig{})
	o := expect(t, m, answer("text/plain", ""), answer("text/plain", "x", "Content-Length: 1"), "length body",
		"(follows from the body header Content-Length x1)")
	if o.Differences[0].Severity != Critical || o.Differences[0].B != "1 bytes" {
		t.Errorf("%+v", o.Differences)
	}
}

func TestText(t *testing.T) {
	m := masks(t, MaskConfig{Patterns: []string{`build \d+`}})
	expect(t, m, answer("text/plain", "a\nb\nc\n"), answer("text/plain", "a\nc"), "missing text")
	expect(t, m, answer("text/plain", "a\r\nb  \n"), answer("text/plain", "a\nb\n"))
	o := expect(t, m, answer("text/plain", "1\nold\n3"), answer("text/plain", "1\nnew\n3"), "value text")
	if d := o.Differences[0]; d.A != "old" || d.B != "new" {
		t.Errorf("%+v", d)
	}
	expect(t, m, answer("text/plain", "x\nbuild 7 of 2026-12-01T05:00:01Z\ny"), answer("text/plain", "x\nbuild 12 of 2026-12-01T05:00:02Z\ny"),
		"(time text x1)", `(pattern build \d+ text x1)`)
	// Far from the request, a time is content.
	expect(t, m, answer("text/plain", "2025-12-01 05:00:01"), answer("text/plain", "2025-12-01 05:00:02"), "value text")
}

func TestBinaryIsComparedByHash(t *testing.T) {
	m := masks(t, MaskConfig{})
	a, b := answer("image/png", "\x89PNG1"), answer("image/png", "\x89PNG2")
	o := expect(t, m, a, b, "body body")
	if d := o.Differences[0]; !strings.HasPrefix(d.A, "5 bytes, hash ") || d.A == d.B {
		t.Errorf("%+v", d)
	}
	if o := expect(t, m, answer("text/plain", "\xff\xfe"), answer("text/plain", "\xff"), "body body"); o.Uncompared != "not in UTF-8" {
		t.Errorf("%q", o.Uncompared)
	}
}

func TestTruncatedBodiesAreComparedBySum(t *testing.T) {
	m := masks(t, MaskConfig{})
	long := func(last string) *Answer {
		a := jsonAnswer("[")
		a.Truncated, a.Size, a.Sum = true, 2<<20, sha256.Sum256([]byte(last))
		return a
	}
	o := expect(t, m, long("x"), long("y"), "body body")
	if !strings.Contains(o.Uncompared, "longer than 1048576 bytes") {
		t.Errorf("%q", o.Uncompared)
	}
	expect(t, m, long("x"), long("x"))
	expect(t, m, long("x"), jsonAnswer("["), "body body")
	expect(t, m, answer("text/plain", strings.Repeat("a", MaxBody+1)), answer("text/plain", strings.Repeat("a", MaxBody+1)))
}

func zip(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(body))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzipIsUndone(t *testing.T) {
	m := masks(t, MaskConfig{})
	zipped := func(body string) *Answer {
		return answer("application/json", zip(t, body), "Content-Encoding: gzip")
	}
	expect(t, m, zipped(`{"a":1}`), zipped(`{"a":2}`), "value a")
	bomb := zipped(strings.Repeat("0", 8<<20))
	if o := m.Compare(bomb, zipped("1")); !strings.Contains(o.Uncompared, "longer than") {
		t.Errorf("a bomb: %q", o.Uncompared)
	}
	br := answer("text/plain", "x", "Content-Encoding: br")
	if o := expect(t, m, br, answer("text/plain", "y", "Content-Encoding: br"), "body body"); o.Uncompared != "encoded as br" {
		t.Errorf("%q", o.Uncompared)
	}
}

func TestHeaders(t *testing.T) {
	m := masks(t, MaskConfig{Headers: []string{"X-Build", "x-node-*"}})
	plain := func(header ...string) *Answer { return answer("text/plain", "x", header...) }
	expect(t, m, plain("Date: a", "X-Request-Id: 1", "Server-Timing: app;dur=1"), plain("Date: b", "X-Request-Id: 2", "Server-Timing: app;dur=2"),
		"(header header Date x1)", "(header header Server-Timing x1)", "(header header X-Request-Id x1)")
	expect(t, m, plain("X-Build: 1", "X-Node-Name: a"), plain("X-Build: 2"),
		"(header X-Build header X-Build x1)", "(header X-Node-Name header X-Node-Name x1)")
	expect(t, m, plain("Vary: a", "Vary: b"), plain("Vary: b", "Vary: a"))
	expect(t, m, plain("Vary: a"), plain("Vary: b"), "header header Vary")
	expect(t, m, plain("X-Frame-Options: DENY"), plain(), "missing header X-Frame-Options")
	expect(t, m, plain("X-Ratelimit-Limit: 60", "X-RateLimit-Remaining: 58"), plain("X-Ratelimit-Limit: 60", "X-RateLimit-Remaining: 57"),
		"shared limiter header X-Ratelimit-Remaining")
	expect(t, m, plain("Content-Security-Policy: script-src 'nonce-Abcdefgh12'"), plain("Content-Security-Policy: script-src 'nonce-Zbcdefgh34'"),
		"(nonce header Content-Security-Policy x1)")
	expect(t, m, plain("Link: </build/assets/app-4f3c2b1a.css>; rel=preload"), plain("Link: </build/assets/app-9f3c2b1a.css>; rel=preload"),
		"(asset hash header Link x1)")
	// What follows from a body that is masked is no difference of its own; of equal bodies it is.
	a, b := answer("text/plain", "2026-12-01T05:00:01Z", `Etag: "a"`), answer("text/plain", "2026-12-01T05:00:02Z", `Etag: "b"`)
	expect(t, m, a, b, "(time text x1)", "(follows from the body header Etag x1)")
	expect(t, m, plain(`Etag: "a"`), plain(`Etag: "b"`), "header header Etag")
}

func TestLocation(t *testing.T) {
	m := masks(t, MaskConfig{})
	to := func(url string) *Answer {
		a := answer("", "", "Location: "+url)
		a.Status = 302
		return a
	}
	expect(t, m, to("https://shop.test/login"), to("https://SHOP.test:443/login"), "(spelling of a URL header Location x1)")
	expect(t, m, to("/v?id=1&expires=1&signature=a"), to("/v?id=1&expires=2&signature=b"), "(signature of a URL header Location x1)")
	o := expect(t, m, to("https://shop.test/login"), to("http://shop.test/login"), "header header Location")
	if o.Differences[0].Severity != Major {
		t.Errorf("%s", o.Differences[0].Severity)
	}
}

const encrypted = "eyJpdiI6IkFBQUFBQUFBQUFBQUFBQUFBQUFBQUE9PSIsInZhbHVlIjoiQkJCQiIsIm1hYyI6ImNjY2MiLCJ0YWciOiIifQ=="

func TestCookies(t *testing.T) {
	m := masks(t, MaskConfig{Cookies: []string{"seen_*"}})
	set := func(cookies ...string) *Answer {
		a := answer("text/plain", "x")
		for _, c := range cookies {
			a.Header.Add("Set-Cookie", c)
		}
		return a
	}
	session := func(value, rest string) string {
		return "shop_session=" + value + "; Path=/; HttpOnly; SameSite=Lax" + rest
	}
	expect(t, m, set("XSRF-TOKEN=a; Path=/", session("b", "")), set(session("c", ""), "XSRF-TOKEN=d; Path=/"),
		"(cookie cookie XSRF-TOKEN x1)", "(cookie cookie shop_session x1)")
	expect(t, m, set("remember_web_59ba36=1"), set("remember_web_59ba36=2"), "(cookie cookie remember_web_59ba36 x1)")
	expect(t, m, set(session("a", "")), set(session("a", "; Secure")), "cookie cookie shop_session@secure")
	expect(t, m, set("a=1; Path=/; Max-Age=60; SameSite=Lax; Domain=a.test"), set("a=1; Path=/x; Max-Age=61; SameSite=None"),
		"cookie cookie a@path", "cookie cookie a@domain", "cookie cookie a@samesite", "cookie cookie a@max-age")
	expect(t, m, set("a=1", "b=2"), set("b=2"), "missing cookie a")
	expect(t, m, set("theme=dark"), set("theme=light"), "cookie cookie theme")
	expect(t, m, set("cart="+encrypted), set("cart="+strings.Replace(encrypted, "QkJC", "QkJD", 1)), "(encrypted cookie cart x1)")
	expect(t, m, set("seen_home=1"), set("seen_home=2"), "(cookie cookie seen_home x1)")
	expires := func(d time.Duration) string { return "a=1; Expires=" + now.Add(d).UTC().Format(time.RFC1123) }
	expect(t, m, set(expires(time.Hour)), set(expires(time.Hour+time.Second)), "(time cookie a@expires x1)")
	expect(t, m, set(expires(time.Hour)), set(expires(time.Hour+3*time.Second)), "cookie cookie a@expires")
	// Secrets are no words to keep.
	o := expect(t, m, set("plain=topsecret"), set("plain=other"), "cookie cookie plain")
	if s := o.Differences[0].A + o.Differences[0].B; strings.Contains(s, "topsecret") || !strings.HasPrefix(s, "#") {
		t.Errorf("%+v", o.Differences)
	}
}

func TestBadMasksAreRefused(t *testing.T) {
	for _, cfg := range []MaskConfig{{Patterns: []string{"("}}, {Patterns: []string{"x*"}}, {Headers: []string{"[x"}}, {Cookies: []string{"[x"}}} {
		if _, err := NewMasks(cfg); err == nil || !strings.HasPrefix(err.Error(), "mask ") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestSecretsHaveEqualHashes(t *testing.T) {
	key := []byte("k")
	m := masks(t, MaskConfig{Key: key})
	body := func(mail, card string) *Answer {
		return jsonAnswer(`{"user":{"email":"` + mail + `","password_hash":"` + mail + `x","card_number":"` + card + `","name":"` + mail + ` Ltd"}}`)
	}
	o := m.Compare(body("ann@shop.test", "4111111111111111"), body("bob@shop.test", "4111111111111112"))
	for _, d := range o.Differences {
		if text := d.A + d.B; strings.Contains(text, "shop.test") || strings.Contains(text, "4111") || !strings.Contains(d.A, "#") || d.A == d.B {
			t.Errorf("%+v", d)
		}
	}
	if len(o.Differences) != 4 {
		t.Errorf("%s", said(o))
	}
	if again := masks(t, MaskConfig{Key: key}); again.hash("x") != m.hash("x") || again.hash("x") == m.hash("y") {
		t.Error("hashes do not follow from key and value")
	}
	if other := masks(t, MaskConfig{}); other.hash("x") == m.hash("x") {
		t.Error("a drawn key makes the same hashes")
	}
}

// What is kept of an answer must hold no secret, wherever it stands.
func TestSamplesHoldNoSecrets(t *testing.T) {
	m := masks(t, MaskConfig{})
	reset := strings.Repeat("0a1b2c3d", 8)
	for name, c := range map[string]struct {
		of     func(secret string) *Answer
		secret string
	}{
		"text":            {func(s string) *Answer { return answer("text/plain", "password: "+s) }, "hunter2"},
		"a long text":     {func(s string) *Answer { return answer("text/plain", strings.Repeat("x ", 300)+"api_key="+s) }, "hunter2"},
		"an address":      {func(s string) *Answer { return answer("text/csv", "1,"+s+"@shop.test,x") }, "ann.smith"},
		"broken JSON":     {func(s string) *Answer { return jsonAnswer(`{"password":"` + s + `"`) }, "hunter2"},
		"a script":        {func(s string) *Answer { return htmlAnswer(`<script>var iban="` + s + `"</script>`) }, "DE89370400440532013000"},
		"a card":          {func(s string) *Answer { return htmlAnswer(`<p>` + s + `</p>`) }, "4111 1111 1111 1111"},
		"a link to reset": {func(s string) *Answer { return htmlAnswer(`<a href="/reset/` + s + `">x</a>`) }, reset},
		"a header":        {func(s string) *Answer { return answer("text/plain", "x", "X-Auth-Token: "+s) }, "hunter2"},
		"a cookie":        {func(s string) *Answer { return answer("text/plain", "x", "Set-Cookie: theme="+s) }, "hunter2"},
		"a whole object":  {func(s string) *Answer { return jsonAnswer(`{"a":{"password":"` + s + `"}}`) }, "hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			o := m.Compare(c.of(c.secret), c.of(strings.Replace(c.secret, c.secret[1:2], "9", 1)))
			missing := m.Compare(c.of(c.secret), answer("text/plain", "y"))
			if o.Equal() {
				t.Error("no difference")
			}
			for _, d := range append(o.Differences, missing.Differences...) {
				if strings.Contains(d.A, c.secret) {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

func TestCutKeepsRunesWhole(t *testing.T) {
	for n := range 12 {
		if got := cut("aé€😀xyz", n); !strings.HasPrefix("aé€😀xyz", strings.TrimSuffix(got, "...")) || len(got) > n+3 {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestMasksMayBeUsedConcurrently(t *testing.T) {
	m, n, tally := masks(t, MaskConfig{Patterns: []string{`v\d+`}}), NewNoise(NoiseConfig{}), NewTally(1)
	var leaks Leaks
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				a, b := laravel(0, 1, ""), laravel(1, i, "")
				o := m.Compare(a, b, "x")
				n.Add("/", o, o)
				n.Verdicts()
				tally.Add("/", now, o)
				tally.Differences()
				leaks.Add(itoa(i), a, b)
			}
		})
	}
	group.Wait()
	if tally.Pairs("/") != 160 {
		t.Errorf("%d pairs", tally.Pairs("/"))
	}
}
