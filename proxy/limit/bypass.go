package limit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// BypassCookie is the name of the cookie that lets its bearer pass, as Laravel calls it.
const BypassCookie = "laravel_maintenance"

// bypassFor is how long such a cookie is good for.
const bypassFor = 12 * time.Hour

// NewBypass returns the cookie that Laravel gives to whoever knows secret, for a site of that scheme.
func NewBypass(secret, scheme string, now time.Time) *http.Cookie {
	expires := now.Add(bypassFor)
	at := strconv.FormatInt(expires.Unix(), 10)
	payload := `{"expires_at":` + at + `,"mac":"` + bypassMAC(at, secret) + `"}`
	return &http.Cookie{
		Name: BypassCookie, Value: url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(payload))),
		Path: "/", Expires: expires, MaxAge: int(bypassFor / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: scheme == "https",
	}
}

// validBypass says whether cookie was made with secret, by us or by Laravel, and is still good.
func validBypass(cookie, secret string, now time.Time) bool {
	if cookie == "" {
		return false
	}
	var payload struct {
		ExpiresAt any    `json:"expires_at"`
		MAC       string `json:"mac"`
	}
	decoder := json.NewDecoder(bytes.NewReader(decodeCookie(cookie)))
	decoder.UseNumber()
	if decoder.Decode(&payload) != nil {
		return false
	}
	at, ok := payload.ExpiresAt.(string)
	if number, isNumber := payload.ExpiresAt.(json.Number); isNumber {
		at, ok = number.String(), true
	}
	expires, err := strconv.ParseInt(at, 10, 64)
	return ok && err == nil && hmac.Equal([]byte(payload.MAC), []byte(bypassMAC(at, secret))) && expires >= now.Unix()
}

// decodeCookie undoes the escapes of a cookie and base64, in which PHP skips what does not belong there.
func decodeCookie(cookie string) []byte {
	if unescaped, err := url.QueryUnescape(cookie); err == nil {
		cookie = unescaped
	}
	cookie = strings.Map(func(r rune) rune {
		if r == '+' || r == '/' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, cookie)
	// What could be decoded before a fault is no whole payload, and is found out as such.
	decoded, _ := base64.RawStdEncoding.DecodeString(cookie)
	return decoded
}

func bypassMAC(expiresAt, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(expiresAt))
	return hex.EncodeToString(mac.Sum(nil))
}
