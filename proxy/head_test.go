package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gateway/conf"
	"gateway/fastcgi/fcgitest"
)

func TestLongTargetIs414(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "limits = { uri_bytes = \"1KiB\" }\n"+fpmSite(responder, ""))
	for length, want := range map[int]string{1024: "HTTP/1.1 200 ", 1025: "HTTP/1.1 414 "} {
		answer := f.raw("GET /" + strings.Repeat("x", length-1) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, want) {
			t.Errorf("%d bytes: %.40q, want %q", length, answer, want)
		}
	}
}

func TestManyFieldsAre431(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "limits = { header_lines = 16 }\n"+fpmSite(responder, ""))
	for n, want := range map[int]string{14: "HTTP/1.1 200 ", 15: "HTTP/1.1 431 "} {
		answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + strings.Repeat("X: y\r\n", n) + "\r\n")
		if !strings.HasPrefix(answer, want) {
			t.Errorf("%d fields: %.40q, want %q", n+2, answer, want)
		}
	}
	// HTTP/2 brings them counted in no other place.
	handler := outermostFirst(http.NotFoundHandler(), limitHead(conf.Limits{HeaderLines: 16, URIBytes: 100}))
	for n, want := range map[int]int{16: 404, 17: 431} {
		r := httptest.NewRequest("GET", "/", nil)
		r.ProtoMajor, r.Header["X"] = 2, make([]string, n)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("HTTP/2, %d fields: %d, want %d", n, w.Code, want)
		}
	}
}
