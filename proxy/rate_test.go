package proxy

import (
	"strings"
	"testing"
	"time"
)

func TestRequestsBeyondTheRateAreRefused(t *testing.T) {
	responder := okApp(t)
	f := serve(t, guarded(responder, "rate = [{ rate = \"2/h\" }]"))
	write(t, f.public+"/a.txt", "a")
	for range 2 {
		if got := status(f.from("1.2.3.4", "GET /")); got != "200" {
			t.Fatalf("within the burst: %s, want 200", got)
		}
	}
	answer := f.from("1.2.3.4", "GET /")
	if status(answer) != "429" || !strings.Contains(answer, "\r\nRetry-After: 1800\r\n") {
		t.Errorf("beyond the burst: %q, want 429 and half an hour", answer)
	}
	if got := status(f.from("1.2.3.4", "GET /a.txt")); got != "200" {
		t.Errorf("a file: %s, want 200", got)
	}
	if got := status(f.from("1.2.3.5", "GET /")); got != "200" {
		t.Errorf("another client: %s, want 200", got)
	}
	if n := len(responder.Requests()); n != 3 {
		t.Errorf("the application was asked %d times, want 3", n)
	}
}

func TestRatesHaveKeys(t *testing.T) {
	f := serve(t, guarded(okApp(t), "rate = [{ rate = \"1/h\", key = \"header:X-Key\" }]"))
	for _, c := range []struct{ addr, lines, want string }{
		{"1.2.3.4", "X-Key: a\r\n", "200"}, {"1.2.3.5", "X-Key: a\r\n", "429"}, {"1.2.3.4", "X-Key: b\r\n", "200"},
		{"1.2.3.4", "", "200"}, {"1.2.3.4", "", "429"}, {"1.2.3.5", "", "200"},
	} {
		if got := status(f.from(c.addr, "GET /\n"+c.lines)); got != c.want {
			t.Errorf("%s with %q: %s, want %s", c.addr, c.lines, got, c.want)
		}
	}
	site := serve(t, guarded(okApp(t), "rate = [{ rate = \"1/h\", key = \"site\" }]"))
	if first, second := status(site.from("1.2.3.4", "GET /")), status(site.from("1.2.3.5", "GET /")); first != "200" || second != "429" {
		t.Errorf("for the site: %s, %s; want 200, 429", first, second)
	}
}

func TestRequestIsHeldBackUntilItsTime(t *testing.T) {
	f := serve(t, guarded(okApp(t), "rate = [{ rate = \"5/s\", burst = 1, delay = \"1s\" }]"))
	begun := time.Now()
	for range 3 {
		if got := status(f.from("1.2.3.4", "GET /")); got != "200" {
			t.Errorf("%s, want 200", got)
		}
	}
	if took := time.Since(begun); took < 400*time.Millisecond {
		t.Errorf("three requests at 5/s took %s", took)
	}
}

// What was counted is not forgotten when another part of the configuration changes.
func TestRatesOutliveAReload(t *testing.T) {
	text := guarded(okApp(t), "rate = [{ rate = \"1/h\" }]")
	f := serve(t, text)
	if got := status(f.from("1.2.3.4", "GET /")); got != "200" {
		t.Fatalf("%s, want 200", got)
	}
	if err := f.Reload(f.load(text + "\n[site.limits]\nbody = \"1MiB\"\n")); err != nil {
		t.Fatal(err)
	}
	if got := status(f.from("1.2.3.4", "GET /")); got != "429" {
		t.Errorf("after the reload: %s, want 429", got)
	}
}

func TestHeldBackClientMayLeave(t *testing.T) {
	responder := okApp(t)
	f := serve(t, guarded(responder, "rate = [{ rate = \"1/m\", burst = 1, delay = \"1m\" }]"))
	f.from("1.2.3.4", "GET /")
	conn := f.dial()
	if _, err := conn.Write([]byte("GET /left HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	eventually(t, "its end in the log", func() bool { return strings.Contains(f.accessLog(), `"uri":"/left"`) })
	if n := len(responder.Requests()); n != 1 {
		t.Errorf("the application was asked %d times, want once", n)
	}
}
