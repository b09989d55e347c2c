package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

func TestPasswordIsAskedFor(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("open: sesame"), 4)
	if err != nil {
		t.Fatal(err)
	}
	responder := okApp(t)
	f := serve(t, guarded(responder, fmt.Sprintf("auth = { realm = \"Shop\", users = { alice = %q } }", hash)))
	write(t, f.public+"/a.txt", "a")
	for lines, want := range map[string]string{
		"": "401", "Authorization: Basic YWxpY2U6b3BlbjogYQ==\r\n": "401", "Authorization: Bearer x\r\n": "401",
		"Authorization: " + basic("alice", "open: sesame") + "\r\nAuthorization: " + basic("root", "") + "\r\n": "401",
		"Authorization: " + basic("alice", "open: sesame") + "\r\n":                                             "200", "Authorization: " + basic("bob", "open: sesame") + "\r\n": "401",
	} {
		answer := f.from("1.2.3.4", "GET /a.txt\n"+lines)
		if status(answer) != want || (want == "401") != strings.Contains(answer, "\r\nWww-Authenticate: Basic realm=\"Shop\", charset=\"UTF-8\"\r\n") {
			t.Errorf("%q: %q, want %s", lines, answer, want)
		}
	}
	got := f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\nRemote-User: root\r\nAuthorization: "+basic("alice", "open: sesame")+"\r\n\r\n")
	wantParams(t, "a user", got, map[string]string{"REMOTE_USER": "alice", "AUTH_TYPE": "Basic"})
}

func basic(name, password string) string {
	r, _ := http.NewRequest("GET", "http://x", nil)
	r.SetBasicAuth(name, password)
	return r.Header.Get("Authorization")
}

func TestAnotherServiceSaysWhoPasses(t *testing.T) {
	asked := make(chan *http.Request, 10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.Header().Set("Remote-User", "alice")
		if r.Header.Get("Cookie") == "" {
			w.Header().Add("Set-Cookie", "back=/")
			http.Redirect(w, r, "https://login.example/", 302)
		}
	}))
	responder := okApp(t)
	f := serve(t, guarded(responder, `forward_auth = { url = "`+service.URL+`/verify", copy = ["Remote-User"], timeout = "5s" }`))
	refused := f.from("1.2.3.4", "POST /a?b\nContent-Length: 0\r\n")
	if status(refused) != "302" || !strings.Contains(refused, "\r\nLocation: https://login.example/\r\n") || !strings.Contains(refused, "\r\nSet-Cookie: back=/\r\n") {
		t.Errorf("refused with %q", refused)
	}
	if r := <-asked; r.URL.Path != "/verify" || r.Header.Get("X-Forwarded-Method") != "POST" || r.Header.Get("X-Forwarded-Uri") != "/a?b" ||
		r.Header.Get("X-Forwarded-For") != "1.2.3.4" || r.Header.Get("X-Forwarded-Host") != "x" {
		t.Errorf("the service was asked %s %v", r.URL, r.Header)
	}
	got := f.paramsOf(responder, "GET / HTTP/1.0\r\nHost: x\r\nCookie: a=b\r\nRemote-User: root\r\nRemote_User: root\r\n\r\n")
	wantParams(t, "let in", got, map[string]string{"HTTP_REMOTE_USER": "alice"})
	service.Close()
	if got := status(f.from("1.2.3.4", "GET /\nCookie: a=b\r\n")); got != "502" {
		t.Errorf("without the service: %s, want 502", got)
	}
	if n := len(responder.Requests()); n != 1 {
		t.Errorf("the application was asked %d times, want once", n)
	}
}
