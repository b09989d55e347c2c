package compare

import (
	"slices"
	"strings"
	"testing"
)

// FuzzCompare gives both bodies as each of the types. Nothing may panic, everything is bounded, an answer is like itself,
// and both directions find as much.
func FuzzCompare(f *testing.F) {
	for _, seed := range []struct{ a, b string }{
		{`{"a":[1,2,{"b":null}]}`, `{"a":[2,1,{"b":"x"}],"c":1.50}`},
		{`[[[[]]]]`, `[[[[1]]]]`},
		{"<p>a<b>c</b><br/>", "<p class=x>a<i>c</i></p>"},
		{`<div wire:snapshot='{"checksum":"a","memo":{"id":1}}'>`, `<div wire:snapshot='{"checksum":"b","memo":{"id":2}}'>`},
		{`<script data-page=app type="application/json">{"version":1}</script>`, `<script>{"version":2}</script>`},
		{"a\nb\nc", "a\nc\nd\n"},
		{"2026-12-01T05:00:01Z " + encrypted, "1796101201 550e8400-e29b-41d4-a716-446655440000"},
		{"\xff\xfe", "\x00"},
		{"/app-D4f3c2b1.js?id=0123456789abcdef0123456789abcdef", "nonce-abcdefghij csrf_token = 'x'"},
	} {
		f.Add(seed.a, seed.b, "data[*].x")
	}
	m, err := NewMasks(MaskConfig{Paths: []string{"**.secret", "a[*].b"}, Patterns: []string{`build \d+`}, Key: []byte("k")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, unordered string) {
		for _, kind := range []string{"application/json", "text/html", "text/plain", "image/png", ""} {
			x, y := answer(kind, a), answer(kind, b)
			o, back := m.Compare(x, y, unordered), m.Compare(y, x, unordered)
			if len(o.Differences) > maxDifferences || len(o.Masked) > maxMasked+50 {
				t.Fatalf("%d differences, %d masks", len(o.Differences), len(o.Masked))
			}
			if o.Equal() != back.Equal() {
				t.Errorf("%s: %q and %q: %s\nand back: %s", kind, a, b, said(o), said(back))
			}
			for _, d := range o.Differences {
				if len(d.A) > maxSample+3 || len(d.B) > maxSample+3 {
					t.Errorf("a sample of %d bytes", max(len(d.A), len(d.B)))
				}
			}
			if self := m.Compare(x, answer(kind, a)); said(self) != "" {
				t.Errorf("%s: %q with itself: %s", kind, a, said(self))
			}
			if kind == "image/png" && o.Equal() != (a == b) {
				t.Errorf("%q and %q: %v", a, b, o.Equal())
			}
		}
	})
}

// FuzzHeaders gives one header to each answer.
func FuzzHeaders(f *testing.F) {
	f.Add("Set-Cookie", "a=b; Path=/; Expires=Tue, 01 Dec 2026 05:00:00 GMT", "a=c; Max-Age=1")
	f.Add("Location", "https://shop.test:443/x?signature=1", "/x?signature=2")
	f.Add("Content-Type", "text/html; charset", "TEXT/HTML")
	f.Add("Content-Security-Policy", "'nonce-abcdefgh'", "")
	f.Add("Content-Encoding", "gzip", "br")
	m, err := NewMasks(MaskConfig{Headers: []string{"X-*"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, a, b string) {
		x, y := answer("text/plain", "x"), answer("text/plain", "x")
		x.Header[name], y.Header[name] = []string{a}, []string{b}
		o := m.Compare(x, y)
		if a == b && !o.Equal() {
			t.Errorf("%s: %q: %s", name, a, said(o))
		}
		for _, d := range o.Differences {
			if name == "Authorization" && len(a) > 8 && strings.Contains(d.A, a) {
				t.Errorf("%+v", d)
			}
		}
	})
}

// FuzzDiff checks that hunks cover both sides in their order, and that what is the same stays together.
func FuzzDiff(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"))
	f.Add([]byte(""), []byte("x"))
	f.Add([]byte(strings.Repeat("a", 300)), []byte(strings.Repeat("b", 300)))
	f.Fuzz(func(t *testing.T, left, right []byte) {
		numbers := func(text []byte) (all []uint64) {
			for _, c := range text {
				all = append(all, uint64(c))
			}
			return all
		}
		a, b := numbers(left), numbers(right)
		x, y := 0, 0
		for _, h := range diff(a, b) {
			if h.a0 != x || h.b0 != y || h.a1 < h.a0 || h.b1 < h.b0 || h.a1 > len(a) || h.b1 > len(b) {
				t.Fatalf("%q, %q: %v after %d, %d", left, right, h, x, y)
			}
			x, y = h.a1, h.b1
		}
		if x != len(a) || y != len(b) {
			t.Fatalf("%q, %q: ends at %d, %d", left, right, x, y)
		}
		if slices.Equal(a, b) {
			for _, h := range diff(a, b) {
				if !slices.Equal(a[h.a0:h.a1], b[h.b0:h.b1]) {
					t.Errorf("%q: %v", left, h)
				}
			}
		}
	})
}
