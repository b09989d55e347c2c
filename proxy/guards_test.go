package proxy

import (
	"strings"
	"testing"

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
