package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func testSplit(weights ...int) *split {
	s := &split{
		app: &variant{name: "fpm"}, cookie: "gateway_split", key: []byte("key"),
		overrideHeader: "X-Gateway-Variant", overrideCookie: "gateway_variant",
	}
	for i, w := range weights {
		s.variants = append(s.variants, &variant{name: []string{"octane", "canary"}[i], points: w})
	}
	return s
}

func TestGrowingAWeightMovesNobodyBack(t *testing.T) {
	for _, grown := range []struct{ before, after []int }{
		{[]int{500}, []int{2000}},
		{[]int{0}, []int{1}},
		{[]int{500, 500}, []int{3000, 500}},
		{[]int{500, 500}, []int{500, 9500}},
	} {
		before, after := testSplit(grown.before...), testSplit(grown.after...)
		moved := 0
		for point := range points {
			was, is := before.at(point).name, after.at(point).name
			if was == is {
				continue
			}
			if moved++; was != "fpm" {
				t.Fatalf("%v -> %v: point %d went from %s to %s", grown.before, grown.after, point, was, is)
			}
		}
		want := 0
		for i := range grown.before {
			want += grown.after[i] - grown.before[i]
		}
		if moved != want {
			t.Errorf("%v -> %v: %d points moved, want %d", grown.before, grown.after, moved, want)
		}
	}
}

func TestUserStaysOnTheVariantOfHisCookie(t *testing.T) {
	s := testSplit(5000)
	for range 50 {
		r := httptest.NewRequest("GET", "/", nil)
		first, cookie := s.choose(r)
		if cookie == nil {
			t.Fatal("no cookie for a new user")
		}
		r.AddCookie(cookie)
		again, another := s.choose(r)
		if again != first || another != nil {
			t.Fatalf("went from %s to %s, new cookie %v", first.name, again.name, another)
		}
	}
}

func TestForgedCookieCountsAsNone(t *testing.T) {
	s := testSplit(500)
	good := s.sign(17)
	other := testSplit(500)
	other.key = []byte("another key")
	for _, value := range []string{
		"", "17", "17.", "17.AAAA", "18" + good[2:], "-1" + good[2:], "10000" + good[2:], other.sign(17), "x." + good, good + "x",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cookie", "gateway_split="+value)
		if point, ok := s.read(r); ok {
			t.Errorf("%q was taken for point %d", value, point)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: "gateway_split", Value: good})
	if point, ok := s.read(r); !ok || point != 17 {
		t.Errorf("point = %d, %v; want 17", point, ok)
	}
}

func TestOverrideReachesEvenWeightZero(t *testing.T) {
	s := testSplit(0)
	byHeader := httptest.NewRequest("GET", "/", nil)
	byHeader.Header.Set("X-Gateway-Variant", "octane")
	byCookie := httptest.NewRequest("GET", "/", nil)
	byCookie.AddCookie(&http.Cookie{Name: "gateway_variant", Value: "octane"})
	for _, r := range []*http.Request{byHeader, byCookie} {
		if v, cookie := s.choose(r); v.name != "octane" || cookie != nil {
			t.Errorf("variant = %s, cookie %v; want octane and none", v.name, cookie)
		}
	}
	unknown := httptest.NewRequest("GET", "/", nil)
	unknown.Header.Set("X-Gateway-Variant", "nothing")
	if v, _ := s.choose(unknown); v.name != "fpm" {
		t.Errorf("variant = %s, want fpm", v.name)
	}
}

func TestWeightZeroDrains(t *testing.T) {
	s := testSplit(0)
	for point := range points {
		if s.at(point).name != "fpm" {
			t.Fatalf("point %d is still on %s", point, s.at(point).name)
		}
	}
}

func FuzzSplitCookie(f *testing.F) {
	s := testSplit(500)
	f.Add(s.sign(3))
	f.Add("3.")
	f.Add(strings.Repeat("9", 40))
	f.Fuzz(func(t *testing.T, value string) {
		r := &http.Request{Header: http.Header{"Cookie": {"gateway_split=" + value}}}
		if point, ok := s.read(r); ok && !strings.HasPrefix(value, s.sign(point)) {
			t.Errorf("%q was taken for point %d", value, point)
		}
	})
}
