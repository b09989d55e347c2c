package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gateway/proxy/identity"
)

// points is how finely a split can be set: one point is a hundredth of a percent of the users.
const points = 10000

// split chooses the variant of a user. Each user has a point from 0 to 9999, kept in a signed cookie, and
// each variant a range of points. The first variant's range grows upwards from 0, the second's downwards
// from 9999 and the site's app has what is between: growing one variant takes users from the app alone
// and moves nobody back.
type split struct {
	app      *variant
	variants []*variant // at most two besides the app

	cookie         string
	maxAge         time.Duration
	overrideHeader string
	overrideCookie string
	key            []byte
}

// variant is one answer to "who serves this user".
type variant struct {
	name    string // the upstream's
	points  int
	forward *forward
}

// choose returns the variant for r, and the cookie to set when the user has none that is valid yet.
func (s *split) choose(r *http.Request) (*variant, *http.Cookie) {
	if v := s.override(r); v != nil {
		return v, nil
	}
	if point, ok := s.read(r); ok {
		return s.at(point), nil
	}
	point := rand.IntN(points)
	return s.at(point), &http.Cookie{
		Name: s.cookie, Value: s.sign(point), Path: "/", MaxAge: int(s.maxAge / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: identity.Scheme(r) == "https",
	}
}

func (s *split) at(point int) *variant {
	if v := s.variants[0]; point < v.points {
		return v
	}
	if len(s.variants) > 1 && point >= points-s.variants[1].points {
		return s.variants[1]
	}
	return s.app
}

// override is for quality assurance: a header or a cookie that names the variant, even one of weight 0.
func (s *split) override(r *http.Request) *variant {
	if s.overrideHeader != "" {
		if v := s.named(r.Header.Get(s.overrideHeader)); v != nil {
			return v
		}
	}
	if s.overrideCookie == "" {
		return nil
	}
	c, err := r.Cookie(s.overrideCookie)
	if err != nil {
		return nil
	}
	return s.named(c.Value)
}

func (s *split) named(name string) *variant {
	if name == s.app.name {
		return s.app
	}
	for _, v := range s.variants {
		if name == v.name {
			return v
		}
	}
	return nil
}

// read returns the user's point if the cookie is there and ours.
func (s *split) read(r *http.Request) (int, bool) {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return 0, false
	}
	text, _, _ := strings.Cut(c.Value, ".")
	point, err := strconv.Atoi(text)
	if err != nil || point < 0 || point >= points {
		return 0, false
	}
	return point, hmac.Equal([]byte(c.Value), []byte(s.sign(point)))
}

// sign returns "POINT.MAC". The cookie's name is part of what is signed, so that the cookies of two sites
// with names of their own are not interchangeable.
func (s *split) sign(point int) string {
	text := strconv.Itoa(point)
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(s.cookie + "=" + text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}
