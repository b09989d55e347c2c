package workload

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gateway/proxy/bench/load"
)

func TestParseRoute(t *testing.T) {
	for text, want := range map[string]Route{
		"/":                  {Method: "GET", Target: "/", Weight: 1},
		"post /login":        {Method: "POST", Target: "/login", Weight: 1},
		"3*GET /api/users?a": {Method: "GET", Target: "/api/users?a", Weight: 3},
		" 0.5 * /a*b ":       {Method: "GET", Target: "/a*b", Weight: 0.5},
	} {
		got, err := ParseRoute(text)
		if err != nil || got.Method != want.Method || got.Target != want.Target || got.Weight != want.Weight {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GET", "x*/a", "-1*/a", "NaN*/a", "GET http://x/", "GET /a b", "G\x00T /", "0*/a", "Inf*/"} {
		if got, err := ParseRoute(text); err == nil && got.Weight != 1 {
			t.Errorf("%q: %+v", text, got)
		} else if err != nil && !errors.Is(err, errRoute) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFile(t *testing.T) {
	w, err := parseFile([]byte(`
host = "shop.example"
cookies = "user"
users = 3
[[login]]
method = "post"
target = "/login"
header = { content-type = "application/json" }
body = '{"email":"a"}'
[[route]]
target = "/"
weight = 3
[[route]]
name = "search"
target = "/search?q=x"
`), "other.example")
	if err != nil {
		t.Fatal(err)
	}
	if w.Login[0].Method != "POST" || w.Login[0].Header.Get("Content-Type") != "application/json" || w.Routes[1].Name != "search" ||
		w.Routes[0].Host != "shop.example" || w.Routes[1].Weight != 1 {
		t.Errorf("%+v", w)
	}
	for text, want := range map[string]string{
		"":                     "asks for nothing",
		"hots = \"x\"":         "1:1: hots: unknown key",
		"host = 1":             "1:",
		"host=\"x\"\nusers=-1": "users: -1",
		"host=\"x\"\ncookies=\"some\"\n[[route]]\ntarget=\"/\"":        "cookies: unknown",
		"[[route]]\ntarget=\"/\"":                                      "host",
		"host=\"x\"\n[[route]]\ntarget=\"x\"":                          "want a path",
		"host=\"x\"\n[[login]]\ntarget=\"/\"\n[[route]]\ntarget=\"/\"": "nobody keeps the cookies",
	} {
		if _, err := parseFile([]byte(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSourceDrawsByWeightAndIsThatOfItsSeed(t *testing.T) {
	w := &Workload{Host: "x", Cookies: UserCookies, Users: 4, Routes: []Route{{Target: "/a", Weight: 3}, {Target: "/b"}}}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	one, other := w.Source(7), w.Source(7)
	counts, users := [2]float64{}, map[int]int{}
	const n = 20000
	for range n {
		r := one.Next()
		if o := other.Next(); r.Route != o.Route || r.User != o.User {
			t.Fatal("one seed, two orders")
		}
		counts[r.Route]++
		users[r.User]++
	}
	if math.Abs(counts[0]/n-0.75) > 0.02 || len(users) != 4 {
		t.Errorf("routes %v, users %v", counts, users)
	}
}

func TestOrderIsKept(t *testing.T) {
	w := &Workload{Host: "x", Routes: []Route{{Target: "/a"}, {Target: "/b"}}, Order: []int{0, 1, 1}}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	s := w.Source(1)
	var got strings.Builder
	for range 6 {
		got.WriteString(s.Next().Target)
	}
	if !strings.Contains("/a/b/b/a/b/b/a/b/b", got.String()) {
		t.Errorf("order = %s", got.String())
	}
}

func TestDroppedRoutesLeaveTheOthersInOrder(t *testing.T) {
	w := &Workload{Host: "x", Routes: []Route{{Target: "/a"}, {Target: "/b.css"}, {Target: "/c"}}, Order: []int{0, 1, 2, 1, 0}}
	w.Drop(func(r Route) bool { return strings.HasSuffix(r.Target, ".css") }, "files")
	if len(w.Routes) != 2 || w.Routes[1].Target != "/c" || !slices.Equal(w.Order, []int{0, 1, 0}) || w.Skipped["files"] != 1 {
		t.Errorf("%+v", w)
	}
}

func TestAccessLogs(t *testing.T) {
	w, err := ReadAccessLog(strings.NewReader(`
{"level":"info","msg":"request","method":"GET","host":"shop.example","uri":"/a?b=c"}
{"level":"info","msg":"serving"}
{"level":"info","msg":"request","method":"POST","host":"shop.example","uri":"/a"}
{"level":"info","msg":"request","method":"GET","host":"shop.example","uri":"/reset?token=***"}
10.0.0.1 - - [01/Dec/2026:03:43:43 +0000] "GET /a?b=c HTTP/1.1" 200 12 "-" "curl/8"
10.0.0.1 - bob [01/Dec/2026:03:43:44 +0000] "GET /\x22 HTTP/2.0" 404 12 "-" "-"
10.0.0.1 - - [01/Dec/2026:03:43:45 +0000] "\x16\x03" 400 0 "-" "-"
{"level"
`), "shop.example")
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Routes) != 2 || w.Routes[0].Weight != 2 || w.Routes[0].Target != "/a?b=c" || len(w.Order) != 3 {
		t.Errorf("%+v, order %v", w.Routes, w.Order)
	}
	for reason, want := range map[string]int{
		"lines about something else": 1, "that may change something (POST)": 1, "whose secrets the log left out": 1,
		"lines in another format": 1, "lines that are no JSON": 1,
	} {
		if w.Skipped[reason] != want {
			t.Errorf("%q: %d, want %d", reason, w.Skipped[reason], want)
		}
	}
	if _, err := ReadAccessLog(strings.NewReader("hello\n"), "x"); !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), "1 lines in another format") {
		t.Errorf("no log: %v", err)
	}
}

func TestHAR(t *testing.T) {
	w, err := ReadHAR(strings.NewReader(`{"log":{"entries":[
{"request":{"method":"GET","url":"https://shop.example/a?b","headers":[{"name":"accept","value":"text/html"},{"name":"Cookie","value":"secret=1"}]}},
{"request":{"method":"GET","url":"https://fonts.example/x.css","headers":[]}},
{"request":{"method":"POST","url":"https://shop.example/a","headers":[]}}]}}`), "shop.example")
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Routes) != 1 || w.Routes[0].Target != "/a?b" || w.Routes[0].Header.Get("Accept") != "text/html" || w.Routes[0].Header.Get("Cookie") != "" {
		t.Errorf("%+v", w.Routes)
	}
	if _, err := ReadHAR(strings.NewReader("x"), ""); err == nil {
		t.Error("no archive")
	}
}

// counting gives each user a session at the first visit and says who is known.
type counting struct{ sessions, known, logins atomic.Int64 }

func (c *counting) Send(_ context.Context, r *load.Request, a *load.Answer) error {
	a.Status, a.Header = 200, http.Header{}
	switch {
	case r.Target == "/refused":
		a.Status = 403
	case r.Target == "/login":
		c.logins.Add(1)
		a.Header.Set("Set-Cookie", "session=x; Path=/; Secure; HttpOnly")
	case r.Header.Get("Cookie") == "session=x":
		c.known.Add(1)
	default:
		c.sessions.Add(1)
	}
	return nil
}

func TestVisitorsKeepTheirCookies(t *testing.T) {
	w := &Workload{Host: "x", Cookies: UserCookies, Users: 5, Routes: []Route{{Target: "/"}}, Login: []Route{{Method: "POST", Target: "/login"}}}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	var arm counting
	v := w.Visitors(&arm)
	if err := v.Login(context.Background()); err != nil {
		t.Fatal(err)
	}
	source := w.Source(1)
	for range 50 {
		if err := v.Send(context.Background(), source.Next(), new(load.Answer)); err != nil {
			t.Fatal(err)
		}
	}
	if arm.logins.Load() != 5 || arm.known.Load() != 50 || arm.sessions.Load() != 0 {
		t.Errorf("%d logins, %d known, %d new", arm.logins.Load(), arm.known.Load(), arm.sessions.Load())
	}
	w.Login[0].Target = "/refused"
	if err := w.Visitors(&arm).Login(context.Background()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("refused login: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"msg":"request","method":"GET","host":"x","uri":"/"}`)
	f.Add(`1 - - [x] "GET / HTTP/1.1" 200 1`)
	f.Add(`{"log":{"entries":[{"request":{"method":"GET","url":"http://x/","headers":[]}}]}}`)
	f.Add("host=\"x\"\n[[route]]\ntarget=\"/\"")
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() (*Workload, error){
			func() (*Workload, error) { return ReadAccessLog(strings.NewReader(text), "x") },
			func() (*Workload, error) { return ReadHAR(strings.NewReader(text), "") },
			func() (*Workload, error) { return parseFile([]byte(text), "") },
		} {
			if w, err := read(); err == nil {
				s := w.Source(1)
				for range 3 {
					if r := s.Next(); r.Target[0] != '/' || r.Host == "" {
						t.Errorf("%+v", r)
					}
				}
			}
		}
	})
}
