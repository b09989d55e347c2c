package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

func TestWhatGoesWrongHasAStatus(t *testing.T) {
	hang := fcgitest.Hang(nil)
	for _, c := range []struct {
		name   string
		site   func(t *testing.T) string
		method string
		path   string
		body   string
		want   int
	}{
		{name: "nobody listens", site: func(t *testing.T) string { return octaneSite(freeAddr(t), "queue_wait = \"50ms\"") }, want: 502},
		{name: "no answer in time", site: func(t *testing.T) string {
			return fpmSite(fcgitest.New(t, hang), "timeouts = { first_byte = \"50ms\" }")
		}, want: 504},
		{name: "text where headers belong", site: func(t *testing.T) string {
			return fpmSite(fcgitest.New(t, fcgitest.Stdout("oops, no header\n"), fcgitest.End(0, 0)), "")
		}, want: 502},
		{name: "cut before anything", site: func(t *testing.T) string { return fpmSite(fcgitest.New(t, fcgitest.Cut()), "") }, want: 502},
		{name: "header too large", site: func(t *testing.T) string {
			return fpmSite(fcgitest.New(t, fcgitest.Stdout("X: "+strings.Repeat("x", 70000)+"\r\n\r\n"), fcgitest.End(0, 0)), "")
		}, want: 502},
		{name: "body too large", site: limited, method: "POST", body: strings.Repeat("x", 2000), want: 413},
		{name: "the app's own 500", site: func(t *testing.T) string { return fpmSite(fcgitest.New(t, fcgitest.Reply(500, "app")), "") }, want: 500},
		{name: "dotfile", site: limited, path: "/.env", want: 403},
		{name: "encoded dotfile", site: limited, path: "/%2eenv", want: 403},
		{name: "NUL in the path", site: limited, path: "/a%00b", want: 400},
		{name: "missing asset", site: limited, path: "/build/assets/app-4f2c9a1b.js", want: 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, c.site(t))
			r, _ := http.NewRequest(c.method, f.url(c.path), strings.NewReader(c.body))
			if resp, body := f.do(r); resp.StatusCode != c.want {
				t.Errorf("status = %d, want %d: %s", resp.StatusCode, c.want, body)
			}
		})
	}
}

// limited is a site that takes bodies of at most 1,000 bytes.
func limited(t *testing.T) string {
	return strings.Replace(fpmSite(fcgitest.New(t, fcgitest.Reply(200, "ok")), ""), "app =", "limits = { body = \"1000B\", body_timeout = \"200ms\" }\napp =", 1)
}

func TestChunkedBodyBeyondTheLimitIs413AndReachesNoScript(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, strings.Replace(fpmSite(responder, ""), "app =", "limits = { body = \"1000B\" }\napp =", 1))
	for size, want := range map[int]int{999: 200, 1000: 200, 1001: 413} {
		r, _ := http.NewRequest("POST", f.url("/"), io.MultiReader(strings.NewReader(strings.Repeat("x", size))))
		if resp, _ := f.do(r); resp.StatusCode != want {
			t.Errorf("%d bytes: status = %d, want %d", size, resp.StatusCode, want)
		}
	}
	if n := len(responder.Requests()); n != 2 {
		t.Errorf("%d requests reached the responder, want 2", n)
	}
}

func TestSlowBodyIs408AndTakesNoWorker(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, strings.Replace(fpmSite(responder, ""), "app =", "limits = { body_timeout = \"150ms\" }\napp =", 1))
	conn := f.dial()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
	answer, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
		t.Errorf("answer = %q, want 408", answer)
	}
	if n := len(responder.Requests()); n != 0 {
		t.Errorf("%d requests reached the responder, want none", n)
	}
}

func TestClientThatLeavesDuringUploadRunsNoScript(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	conn := f.dial()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 50000))
	conn.Close()
	eventually(t, "access line", func() bool { return strings.Contains(f.accessLog(), `"status":499`) })
	if n := len(responder.Requests()); n != 0 {
		t.Errorf("%d requests reached the responder, want none", n)
	}
}

func TestClientThatLeavesIs499AndHarmsNoBackend(t *testing.T) {
	began := make(chan struct{}, 10)
	responder := fcgitest.New(t, fcgitest.Call(func() { began <- struct{}{} }), fcgitest.AwaitClose())
	f := serve(t, fpmSite(responder, "timeouts = { first_byte = \"300ms\" }"))
	for range 5 {
		conn := f.dial()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-began
		conn.Close()
	}
	eventually(t, "five access lines", func() bool { return strings.Count(f.accessLog(), `"status":499`) == 5 })
	for _, b := range f.Status().Upstreams[0].Backends {
		if b.Failed != 0 || !b.Ejected.IsZero() {
			t.Errorf("the backend is blamed: %+v", b)
		}
	}
}

func TestFullQueueIs503WithRetryAfter(t *testing.T) {
	leave := make(chan struct{})
	began := make(chan struct{}, 10)
	responder := fcgitest.New(t, fcgitest.Call(func() { began <- struct{}{} }), fcgitest.Hang(leave), fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, "max_in_flight = 1\nqueue = 1\nqueue_wait = \"10s\""))
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			resp, err := http.Get(f.url("/"))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			answers <- resp.StatusCode
		}()
	}
	<-began
	eventually(t, "one waits", func() bool { return f.Status().Upstreams[0].Queued == 1 })
	resp, _ := f.get("/")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("status = %d, Retry-After %q; want 503 with one", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	close(leave)
	for range 2 {
		if status := <-answers; status != 200 {
			t.Errorf("status = %d, want 200 for who waited", status)
		}
	}
}

func TestErrorPageIsJSONWhereThatIsAskedFor(t *testing.T) {
	f := serve(t, limited(t))
	r, _ := http.NewRequest("GET", f.url("/.env"), nil)
	r.Header.Set("Accept", "application/json")
	resp, body := f.do(r)
	if resp.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(body, `{"message":"Forbidden","request_id":"`) {
		t.Errorf("%s: %s", resp.Header.Get("Content-Type"), body)
	}
}

func TestBadInputIsAnsweredAndTheNextClientServed(t *testing.T) {
	f := serve(t, limited(t)+"\n[limits]\nheader_bytes = \"64KiB\"\nheader_timeout = \"300ms\"\n")
	lines := strings.Repeat("X-Header: value\r\n", 10000)
	for name, c := range map[string]struct{ request, want string }{
		"control byte in the path": {"GET /a\x01b HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		"encoded newline":          {"GET /a%0Ab HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 "},
		"no host":                  {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		"two hosts":                {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 "},
		"absurd length":            {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "HTTP/1.1 400 "},
		"huge length":              {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 413 "},
		"negative length":          {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400 "},
		"not HTTP":                 {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400 "},
		"10,000 header lines":      {"GET / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n", "HTTP/1.1 431 "},
		"1 MiB header line":        {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "HTTP/1.1 431 "},
		"bad chunk":                {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
		"asterisk":                 {"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 "},
		"connect":                  {"CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 "},
		"slow head":                {"GET / HTTP/1.1\r\nHost", ""},
		"slow body":                {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx", "HTTP/1.1 408 "},
	} {
		t.Run(name, func(t *testing.T) {
			if answer := f.raw(c.request); !strings.HasPrefix(answer, c.want) {
				t.Errorf("answer = %.80q, want %q", answer, c.want)
			}
			if resp, _ := f.get("/"); resp.StatusCode != 200 {
				t.Errorf("the next client got %d", resp.StatusCode)
			}
		})
	}
}

func TestUnknownHostIsMisdirected(t *testing.T) {
	f := serve(t, strings.Replace(limited(t), `"*"`, `"shop.example"`, 1))
	for host, want := range map[string]int{"shop.example": 200, "other.example": 421} {
		r, _ := http.NewRequest("GET", f.url("/"), nil)
		r.Host = host
		if resp, _ := f.do(r); resp.StatusCode != want {
			t.Errorf("%s: status = %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestPanicTakesOnlyItsConnection(t *testing.T) {
	handler := outermostFirst(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault of ours") }),
		guard((&Gateway{}).log()))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go server.Serve(l)
	defer server.Close()
	for range 2 {
		if _, err := http.Get("http://" + l.Addr().String()); err == nil {
			t.Error("an answer, want a broken connection")
		}
	}
}
