package proxy

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const downFile = "storage/framework/down"

// headerOf is a header of an answer of from.
func headerOf(answer, name string) string {
	_, rest, found := strings.Cut(answer, "\r\n"+name+": ")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

func TestArtisanDownIsAnsweredHere(t *testing.T) {
	responder := okApp(t)
	f := serve(t, guarded(responder, ""))
	write(t, f.public+"/a.txt", "a")
	if got := status(f.from("1.2.3.4", "GET /")); got != "200" {
		t.Fatalf("before: %s, want 200", got)
	}
	write(t, filepath.Join(f.dir, downFile), `{"except":["api/*"],"redirect":null,"retry":60,"refresh":"15","secret":"key","status":503,"template":null}`)
	var answer string
	eventually(t, "down", func() bool {
		answer = f.from("1.2.3.4", "GET /cart?a")
		return status(answer) == "503"
	})
	asked := len(responder.Requests()) // by those who came before the file was looked for again
	if status(answer) != "503" || headerOf(answer, "Retry-After") != "60" || headerOf(answer, "Refresh") != "15" ||
		!strings.Contains(answer, "503 | Service Unavailable") {
		t.Errorf("down: %q", answer)
	}
	json := f.from("1.2.3.4", "GET /cart\nAccept: application/json\r\n")
	if status(json) != "503" || !strings.Contains(json, `{"message":"Service Unavailable"`) {
		t.Errorf("down, for a program: %q", json)
	}
	if got := status(f.from("1.2.3.4", "GET /a.txt")); got != "200" {
		t.Errorf("a file: %s, want 200", got)
	}
	if n := len(responder.Requests()); n != asked {
		t.Errorf("PHP was asked %d times while it was down", n-asked)
	}
	if got := status(f.from("1.2.3.4", "POST /api/hook")); got != "200" {
		t.Errorf("an exception: %s, want 200", got)
	}
	if err := os.Remove(filepath.Join(f.dir, downFile)); err != nil {
		t.Fatal(err)
	}
	if got := status(f.from("1.2.3.4", "GET /")); got != "200" {
		t.Errorf("up: %s, want 200", got)
	}
	eventually(t, "a note in the log", func() bool { return strings.Contains(f.accessLog(), `"note":"down for maintenance"`) })
}

func TestSecretLetsItsBearerPass(t *testing.T) {
	f := serve(t, guarded(okApp(t), ""))
	write(t, filepath.Join(f.dir, downFile), `{"secret":"key","status":503}`)
	answer := f.from("1.2.3.4", "GET /key\nX-Forwarded-Proto: https\r\n")
	cookie := headerOf(answer, "Set-Cookie")
	if status(answer) != "302" || headerOf(answer, "Location") != "https://x" || !strings.HasPrefix(cookie, "laravel_maintenance=") ||
		!strings.Contains(cookie, "; Path=/; ") || !strings.HasSuffix(cookie, "; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("the secret: %q", answer)
	}
	pair, _, _ := strings.Cut(cookie, ";")
	for lines, want := range map[string]string{"Cookie: a=b; " + pair + "\r\n": "200", "Cookie: laravel_maintenance=abc\r\n": "503"} {
		if got := status(f.from("1.2.3.4", "GET /cart\n"+lines)); got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
}

func TestRenderedPageAndRedirectAreArtisans(t *testing.T) {
	responder := okApp(t)
	f := serve(t, guarded(responder, ""))
	write(t, filepath.Join(f.dir, downFile), `{"redirect":"/soon","status":500,"template":"<p>Wir kommen zur\u00fcck"}`)
	if answer := f.from("1.2.3.4", "GET /cart"); status(answer) != "302" || headerOf(answer, "Location") != "http://x/soon" {
		t.Errorf("redirect: %q", answer)
	}
	page := f.from("1.2.3.4", "GET /soon")
	if status(page) != "500" || headerOf(page, "Content-Type") != "text/html; charset=UTF-8" || !strings.HasSuffix(page, "\r\n\r\n<p>Wir kommen zurück") {
		t.Errorf("page: %q", page)
	}
	if head := f.from("1.2.3.4", "HEAD /soon"); status(head) != "500" || !strings.HasSuffix(head, "\r\n\r\n") {
		t.Errorf("HEAD: %q", head)
	}
	if n := len(responder.Requests()); n != 0 {
		t.Errorf("PHP was asked %d times, want never", n)
	}
}

func TestFileOfArtisanCanBeElsewhereOrLeftAlone(t *testing.T) {
	dir := t.TempDir()
	elsewhere := serve(t, guarded(okApp(t), "maintenance = { artisan_file = \""+dir+"/down\" }"))
	write(t, filepath.Join(elsewhere.dir, downFile), `{}`)
	if got := status(elsewhere.from("1.2.3.4", "GET /")); got != "200" {
		t.Errorf("with the file where it is not looked for: %s, want 200", got)
	}
	write(t, dir+"/down", `{}`)
	eventually(t, "down, with the file where it is", func() bool {
		return status(elsewhere.from("1.2.3.4", "GET /")) == "503"
	})
	alone := serve(t, guarded(okApp(t), "maintenance = { artisan = false }"))
	write(t, filepath.Join(alone.dir, downFile), `{}`)
	if got := status(alone.from("1.2.3.4", "GET /")); got != "200" {
		t.Errorf("with a file that is nobody's business: %s, want 200", got)
	}
}

func TestConfigurationTakesTheApplicationDown(t *testing.T) {
	responder := okApp(t)
	page := filepath.Join(t.TempDir(), "down.html")
	write(t, page, "<p>back soon")
	f := serve(t, guarded(responder, `maintenance = { enabled = true, retry_after = "2m", secret = "key", allow = ["192.0.2.0/24"], page = "`+page+`" }`))
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n")
	if status(answer) != "503" || headerOf(answer, "Retry-After") != "120" || !strings.HasSuffix(answer, "\r\n\r\n<p>back soon") {
		t.Errorf("down: %q", answer)
	}
	pair, _, _ := strings.Cut(headerOf(f.from("1.2.3.4", "GET /key"), "Set-Cookie"), ";")
	if got := status(f.from("1.2.3.4", "GET /\nCookie: "+pair+"\r\n")); got != "200" {
		t.Errorf("with the cookie: %s, want 200", got)
	}
	if got := status(f.from("192.0.2.9", "GET /")); got != "200" {
		t.Errorf("from where it is allowed: %s, want 200", got)
	}
	if n := len(responder.Requests()); n != 2 {
		t.Errorf("PHP was asked %d times, want twice", n)
	}
}

// Reverb, which has the WebSockets, is not down when the application is. A configuration takes down all of the site.
func TestUpgradeIsNotForTheApplicationThatIsDown(t *testing.T) {
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer octane.Close()
	artisan := octaneSite(octane.Listener.Addr().String(), "")
	configured := strings.Replace(artisan, "app =", "maintenance = { enabled = true }\napp =", 1)
	const upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\n"
	for _, c := range []struct{ site, lines, want string }{
		{artisan, upgrade, "418"}, {artisan, "", "503"}, {configured, upgrade, "503"}, {configured, "", "503"},
	} {
		f := serve(t, c.site)
		if c.site == artisan {
			write(t, filepath.Join(f.dir, downFile), `{}`)
		}
		if got := status(f.raw("GET /app HTTP/1.1\r\nHost: x\r\n" + c.lines + "Connection: close\r\n\r\n")); got != c.want {
			t.Errorf("%q: %s, want %s\n%s", c.lines, got, c.want, c.site)
		}
	}
}
