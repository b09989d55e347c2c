package limit

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestBypassIsGoodForTwelveHours(t *testing.T) {
	now := time.Unix(2e9, 0)
	cookie := NewBypass("key", "https", now)
	if cookie.Name != "laravel_maintenance" || cookie.MaxAge != 43200 || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie = %+v", cookie)
	}
	for _, c := range []struct {
		secret string
		after  time.Duration
		want   bool
	}{{"key", 0, true}, {"key", 12 * time.Hour, true}, {"key", 12*time.Hour + time.Second, false}, {"other", 0, false}} {
		if got := validBypass(cookie.Value, c.secret, now.Add(c.after)); got != c.want {
			t.Errorf("secret %s after %s: %v, want %v", c.secret, c.after, got, c.want)
		}
	}
}

func TestBypassAsPHPReadsIt(t *testing.T) {
	now := time.Unix(2e9, 0)
	mac := bypassMAC("2000000001", "key")
	encode := func(payload string) string { return base64.StdEncoding.EncodeToString([]byte(payload)) }
	for _, c := range []struct {
		name, cookie string
		want         bool
	}{
		{"as Laravel sends it", url.QueryEscape(encode(`{"expires_at":2000000001,"mac":"` + mac + `"}`)), true},
		{"without escapes", encode(`{"expires_at":2000000001,"mac":"` + mac + `"}`), true},
		{"with a number in quotes", encode(`{"expires_at":"2000000001","mac":"` + mac + `"}`), true},
		{"over", encode(`{"expires_at":1999999999,"mac":"` + bypassMAC("1999999999", "key") + `"}`), false},
		{"of another time", encode(`{"expires_at":2000000002,"mac":"` + mac + `"}`), false},
		{"without a mac", encode(`{"expires_at":2000000001}`), false},
		{"with a mac of another type", encode(`{"expires_at":2000000001,"mac":["` + mac + `"]}`), false},
		{"without a time", encode(`{"mac":"` + bypassMAC("", "key") + `"}`), false},
		{"no base64", "%%%", false},
		{"nothing", "", false},
	} {
		if got := validBypass(c.cookie, "key", now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzBypass looks for panics and for a cookie that is good without the secret.
func FuzzBypass(f *testing.F) {
	now := time.Unix(2e9, 0)
	for _, seed := range []string{"", "e30=", "%7B", NewBypass("another", "http", now).Value, "eyJleHBpcmVzX2F0IjoxfQ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cookie string) {
		if validBypass(cookie, "0f1e2d3c-key-nobody-knows", now) {
			t.Errorf("%q is good", cookie)
		}
	})
}
