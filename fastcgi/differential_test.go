package fastcgi

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yookoala/gofast"
)

// ordinary are requests and answers that every FastCGI client gets right.
var ordinary = []struct {
	name, method, path, body string
	header                   http.Header
	answer                   func(w http.ResponseWriter)
}{
	{name: "page", method: "GET", path: "/cart?id=7", answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<p>page")
	}},
	{name: "form", method: "POST", path: "/orders", body: "a=1&b=2",
		header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Cookie": {"s=1; t=2"}, "X-Own": {"v"}}},
	{name: "upload", method: "PUT", path: "/files/a%20b", body: strings.Repeat("0123456789abcdef", 20_000)},
	{name: "missing", method: "DELETE", path: "/none", answer: func(w http.ResponseWriter) { http.Error(w, "none", 404) }},
	{name: "redirect", method: "GET", path: "/old", answer: func(w http.ResponseWriter) {
		w.Header().Set("Location", "/new")
		w.WriteHeader(302)
	}},
	{name: "cookies", method: "GET", path: "/login", answer: func(w http.ResponseWriter) {
		w.Header()["Set-Cookie"] = []string{"a=1; Path=/", "b=2"}
	}},
	{name: "large", method: "GET", path: "/large", answer: func(w http.ResponseWriter) {
		io.WriteString(w, strings.Repeat("large ", 200_000))
	}},
	{name: "not modified", method: "GET", path: "/same", header: http.Header{"If-None-Match": {`"x"`}},
		answer: func(w http.ResponseWriter) { w.WriteHeader(304) }},
}

// TestLikeOtherImplementations sends the same requests through this transport and through gofast's own client to the
// responder of net/http/fcgi, and compares what that saw and what it answered.
func TestLikeOtherImplementations(t *testing.T) {
	seen := make(chan string, 1)
	address := serveFCGI(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- describe(r)
		w.Header().Set("X-Own", "answer")
		w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
		ordinaryAnswer(w, r.URL.Path)
	}))
	tr, err := New(Config{Network: "unix", Address: address})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	reference := gofast.NewHandler(
		gofast.Chain(gofast.BasicParamsMap, gofast.MapHeader, gofast.MapEndpoint("/srv/shop/public/index.php"))(gofast.BasicSession),
		gofast.SimpleClientFactory(gofast.SimpleConnFactory("unix", address)))

	for _, c := range ordinary {
		t.Run(c.name, func(t *testing.T) {
			r := ordinaryRequest(c.method, c.path, c.body, c.header)
			w := httptest.NewRecorder()
			reference.ServeHTTP(w, r)
			wantSeen, want := <-seen, describeAnswer(w.Result())

			r = ordinaryRequest(c.method, c.path, c.body, c.header)
			env := newEnv()
			env.RequestURI, env.Scheme = r.RequestURI, "http"
			env.ServerPort, env.RemoteAddr, env.RemotePort = "80", "192.0.2.1", "1234"
			resp, err := tr.RoundTrip(r.WithContext(WithEnv(t.Context(), env)))
			if err != nil {
				t.Fatal(err)
			}
			if got := describeAnswer(resp); got != want {
				t.Errorf("answer = %.300q, want %.300q", got, want)
			}
			if got := <-seen; got != wantSeen {
				t.Errorf("seen = %.300q, want %.300q", got, wantSeen)
			}
		})
	}
}

func ordinaryAnswer(w http.ResponseWriter, path string) {
	for _, c := range ordinary {
		if c.answer != nil && strings.HasPrefix(c.path, path) {
			c.answer(w)
			return
		}
	}
	io.WriteString(w, "done")
}

func ordinaryRequest(method, path, body string, header http.Header) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "shop.example"
	maps.Copy(r.Header, header)
	return r
}

func serveFCGI(t testing.TB, h http.Handler) string {
	t.Helper()
	address := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		fcgi.Serve(l, h)
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return address
}

func describe(r *http.Request) string {
	b, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.Method, r.URL, r.Host, r.Proto, r.RemoteAddr, r.ContentLength, sorted(r.Header), string(b), err)
}

func describeAnswer(r *http.Response) string {
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, sorted(r.Header), string(b), err)
}

func sorted(h http.Header) string {
	var lines []string
	for name, values := range h {
		lines = append(lines, name+": "+strings.Join(values, "|"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
