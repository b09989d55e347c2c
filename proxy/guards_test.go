package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"gateway/fastcgi/fcgitest"
)

// ok is an application that answers everything.
func okApp(t testing.TB) *fcgitest.Responder {
	t.Helper()
	return fcgitest.New(t, fcgitest.Reply(200, "ok"))
}

// guarded is a site on responder with more keys, behind a proxy on this machine.
func guarded(responder *fcgitest.Responder, keys string) string {
	return trusting("", strings.Replace(fpmSite(responder, ""), "app =", keys+"\napp =", 1))
}

// from asks as a client at addr.
func (f *fixture) from(addr, request string) string {
	f.t.Helper()
	line, rest, _ := strings.Cut(request, "\n")
	return f.raw(line + " HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: " + addr + "\r\n" + rest + "\r\n")
}

// status is that of an answer to from.
func status(answer string) string {
	_, rest, _ := strings.Cut(answer, " ")
	code, _, _ := strings.Cut(rest, " ")
	return code
}

func TestAddressesAreKeptOut(t *testing.T) {
	for keys, want := range map[string]map[string]string{
		`access = { deny = ["192.0.2.0/24", "2001:db8::/32"] }`:               {"192.0.2.7": "403", "2001:db8::1": "403", "::ffff:192.0.2.7": "403", "192.0.3.1": "200"},
		`access = { allow = ["192.0.2.0/24"] }`:                               {"192.0.2.7": "200", "192.0.3.1": "403", "::1": "403"},
		`access = { allow = ["192.0.2.0/24"], deny = ["192.0.2.7"] }`:         {"192.0.2.7": "403", "192.0.2.8": "200"},
		`access = { allow = ["private"], deny = ["file:@DIR@/gateway.txt"] }`: {"10.9.8.7": "200", "10.0.0.66": "403", "192.0.2.1": "403"},
	} {
		f := &fixture{t: t, dir: t.TempDir()}
		write(t, f.dir+"/list.txt", "10.0.0.66\n")
		f = serve(t, guarded(okApp(t), strings.Replace(keys, "@DIR@/gateway.txt", f.dir+"/list.txt", 1)))
		write(t, f.public+"/a.txt", "a")
		for addr, code := range want {
			for _, path := range []string{"/", "/a.txt"} {
				if got := status(f.from(addr, "GET "+path)); got != code {
					t.Errorf("%s: %s for %s of %s, want %s", keys, got, path, addr, code)
				}
			}
		}
	}
}

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
		"Authorization: Basic YWxpY2U6b3BlbjogYQ==\r\nAuthorization: " + basic("alice", "open: sesame") + "\r\n": "401",
		"Authorization: " + basic("alice", "open: sesame") + "\r\n":                                              "200", "Authorization: " + basic("bob", "open: sesame") + "\r\n": "401",
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

func TestHSTSIsForHTTPS(t *testing.T) {
	f := serve(t, guarded(okApp(t), "hsts = { max_age = \"365d\", subdomains = true, preload = true }\naccess = { deny = [\"192.0.2.1\"] }"))
	const line = "\r\nStrict-Transport-Security: max-age=31536000; includeSubDomains; preload\r\n"
	for lines, want := range map[string]bool{"X-Forwarded-Proto: https\r\n": true, "X-Forwarded-Proto: http\r\n": false} {
		for addr, code := range map[string]string{"192.0.2.1": "403", "192.0.2.2": "200"} {
			answer := f.from(addr, "GET /\n"+lines)
			if strings.Contains(answer, line) != want || status(answer) != code {
				t.Errorf("%q from %s: %q, want %s, with HSTS: %v", lines, addr, answer, code, want)
			}
		}
	}
}

func TestHSTSOfTheApplicationWins(t *testing.T) {
	app := fcgitest.New(t, fcgitest.Stdout("Strict-Transport-Security: max-age=1\r\n\r\nok"), fcgitest.End(0, 0))
	f := serve(t, guarded(app, "hsts = { max_age = \"365d\" }"))
	answer := f.from("1.2.3.4", "GET /\nX-Forwarded-Proto: https\r\n")
	if strings.Count(answer, "Strict-Transport-Security") != 1 || !strings.Contains(answer, "max-age=1\r\n") {
		t.Errorf("answer = %q, want the application's header alone", answer)
	}
}

// over sends a request for host on a connection whose handshake named sni.
func over(t *testing.T, addr, sni, host string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: sni, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /a.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	return resp.Status[:3]
}

func TestHostAndNameOfTheConnectionAgree(t *testing.T) {
	app := strings.Replace(fpmSite(okApp(t), ""), `"*"`, `"a.test", "b.test"`, 1)
	other := "[[site]]\nhosts = [\"c.test\"]\nroot = \"@PUBLIC@\"\napp = \"fpm\"\n"
	f, addr := tlsPorts(t, "", other+app)
	write(t, f.public+"/a.txt", "a")
	_, port, _ := net.SplitHostPort(addr)
	for _, c := range []struct{ sni, host, want string }{
		{"a.test", "a.test", "200"}, {"a.test", "A.test.:" + port, "200"}, {"a.test", "b.test", "200"},
		{"a.test", "c.test", "421"}, {"c.test", "a.test", "421"},
	} {
		if got := over(t, addr, c.sni, c.host); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.host, c.sni, got, c.want)
		}
	}
}
