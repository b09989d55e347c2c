package limit

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// authority asks handler.
func authority(t *testing.T, handler http.HandlerFunc, timeout time.Duration) *Authority {
	t.Helper()
	server := httptest.NewServer(handler)
	a, err := NewAuthority(AuthorityConfig{URL: server.URL + "/verify?x=1", Copy: []string{"Remote-User", "Remote-Groups"}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); server.Close() })
	return a
}

var question = Question{Method: "POST", Scheme: "https", Host: "shop.example", URI: "/a%20b?c", Client: "1.2.3.4"}

func TestAuthorityIsToldWhatIsAsked(t *testing.T) {
	seen := make(chan *http.Request, 1)
	a := authority(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r }, time.Minute)
	header := http.Header{"Cookie": {"a=b"}, "Content-Length": {"5"}, "Content-Type": {"text/plain"}, "If-None-Match": {"x"},
		"X-Original-Url": {"http://evil/"}, "Upgrade": {"websocket"}, "Connection": {"upgrade"}}
	if answer, err := a.Ask(t.Context(), header, question); answer != nil || err != nil {
		t.Fatalf("%v, %v; want that it passes", answer, err)
	}
	r := <-seen
	if r.Method != "GET" || r.RequestURI != "/verify?x=1" || r.ContentLength != 0 {
		t.Errorf("asked %s %s, %d bytes", r.Method, r.RequestURI, r.ContentLength)
	}
	for name, want := range map[string]string{
		"Cookie": "a=b", "X-Forwarded-Method": "POST", "X-Forwarded-Uri": "/a%20b?c", "X-Forwarded-Proto": "https",
		"X-Forwarded-Host": "shop.example", "X-Forwarded-For": "1.2.3.4", "X-Original-Method": "POST", "X-Original-Uri": "/a%20b?c",
		"X-Original-Url": "https://shop.example/a%20b?c", "Content-Type": "", "If-None-Match": "", "Upgrade": "",
	} {
		if got := strings.Join(r.Header[name], "|"); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if header.Get("Content-Length") != "5" || header.Get("X-Forwarded-Method") != "" {
		t.Errorf("the request's own headers are now %v", header)
	}
}

// A client that writes such a header itself must not be taken for whom the service names.
func TestAuthorityAloneNamesTheUser(t *testing.T) {
	a := authority(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Remote-User"] = []string{"alice"}
		w.Header()["X-Other"] = []string{"stays"}
	}, time.Minute)
	header := http.Header{"Remote-User": {"admin", "root"}, "Remote-Groups": {"admins"}}
	if answer, err := a.Ask(t.Context(), header, question); answer != nil || err != nil {
		t.Fatalf("%v, %v; want that it passes", answer, err)
	}
	if len(header) != 1 || strings.Join(header["Remote-User"], "|") != "alice" {
		t.Errorf("headers = %v, want Remote-User alice alone", header)
	}
}

func TestAuthorityRefuses(t *testing.T) {
	a := authority(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://login.example/")
		w.WriteHeader(302)
		w.Write([]byte("go there"))
	}, time.Minute)
	answer, err := a.Ask(t.Context(), http.Header{}, question)
	if err != nil || answer == nil || answer.Status != 302 || answer.Header.Get("Location") != "https://login.example/" || string(answer.Body) != "go there" {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestNobodyPassesWithoutAnAnswer(t *testing.T) {
	release := make(chan bool)
	slow := authority(t, func(http.ResponseWriter, *http.Request) { <-release }, 50*time.Millisecond)
	defer close(release)
	var late interface{ Timeout() bool }
	if answer, err := slow.Ask(t.Context(), http.Header{}, question); answer != nil || !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("too late: %v, %v", answer, err)
	}
	cut := authority(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(401)
	}, time.Minute)
	if answer, err := cut.Ask(t.Context(), http.Header{}, question); answer != nil || err == nil {
		t.Errorf("cut off: %v, %v", answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answer, err := slow.Ask(ctx, http.Header{}, question); answer != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("client gone: %v, %v", answer, err)
	}
	gone, err := NewAuthority(AuthorityConfig{URL: "http://127.0.0.1:1/", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := gone.Ask(t.Context(), http.Header{}, question); answer != nil || err == nil {
		t.Errorf("not there: %v, %v", answer, err)
	}
}
