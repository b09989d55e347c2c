package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func newHTTP(t testing.TB, cfg HTTPConfig) *HTTP {
	t.Helper()
	h, err := NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// httpBackend is an ordinary backend that counts its connections.
func httpBackend(t testing.TB, handler http.HandlerFunc) (addr string, conns *atomic.Int32) {
	conns = new(atomic.Int32)
	s := httptest.NewUnstartedServer(handler)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), conns
}

// rawBackend gives every connection to serve, with its number, and closes it after that.
func rawBackend(t testing.TB, serve func(n int, c net.Conn, r *bufio.Reader)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serve(n, c, bufio.NewReader(c))
			c.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// readRequest takes one request off the connection, with its body.
func readRequest(r *bufio.Reader) (*http.Request, string) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil, ""
	}
	body, _ := io.ReadAll(req.Body)
	return req, string(body)
}

// answering is a backend that sends raw after every request, and closes.
func answering(t testing.TB, raw string) string {
	return rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, raw)
	})
}

func TestHTTPCarriesRequestsAndResponses(t *testing.T) {
	addr, conns := httpBackend(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(201)
		fmt.Fprintf(w, "%s %s %s %d %v %s %q", r.Method, r.RequestURI, r.Host, r.ContentLength,
			r.TransferEncoding, r.Header.Get("X-Thing"), r.Header["User-Agent"])
		fmt.Fprintf(w, " %d", len(body))
	})
	h := newHTTP(t, HTTPConfig{Address: addr})
	for _, size := range []int{0, 1, 4096, sentAtOnce, sentAtOnce + 1, 5 << 20} {
		r := newRequest("POST", strings.Repeat("x", size))
		r.Header.Set("X-Thing", "thing")
		r.Header.Set("Expect", "100-continue")
		resp, err := h.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		want := fmt.Sprintf("POST / site.example %d [] thing [] %d", size, size)
		if string(body) != want || err != nil || resp.StatusCode != 201 {
			t.Errorf("%d bytes: %d %s, %v; want %s", size, resp.StatusCode, body, err, want)
		}
		if cookies := resp.Header["Set-Cookie"]; len(cookies) != 2 {
			t.Errorf("cookies = %q", cookies)
		}
		// A larger body has a sender of its own. An answer that ends before it has said that it is done costs the
		// connection, which cannot be told from one to a backend that answered early.
		if n := conns.Load(); n != 1 && size <= sentAtOnce {
			t.Errorf("%d bytes: %d connections, want the same for all", size, n)
		}
	}
}

func TestTargetIsSentByteForByte(t *testing.T) {
	for _, target := range []string{"/", "/a//b/../c", "/a%2Fb|c?x=[1]&y=%zz", "//two/slashes", "/?", "/ä"} {
		got := make(chan string, 1)
		addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
			line, _ := r.ReadString('\n')
			got <- line
			io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		})
		r := newRequest("GET", "")
		r.RequestURI = target
		if _, err := newHTTP(t, HTTPConfig{Address: addr}).RoundTrip(r); err != nil {
			t.Fatal(err)
		}
		if line, want := <-got, "GET "+target+" HTTP/1.1\r\n"; line != want {
			t.Errorf("request line %q, want %q", line, want)
		}
	}
}

func TestHeadersOfOneConnectionStayBehind(t *testing.T) {
	got := make(chan *http.Request, 1)
	addr := rawBackend(t, func(_ int, c net.Conn, r *bufio.Reader) {
		req, _ := readRequest(r)
		got <- req
		io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	r := newRequest("GET", "")
	for name := range hopHeaders {
		r.Header.Set(name, "1")
	}
	r.Header["User-Agent"] = []string{""}
	r.Header.Set("X-Value", "one\r\nX-Smuggled: two")
	if _, err := newHTTP(t, HTTPConfig{Address: addr}).RoundTrip(r); err != nil {
		t.Fatal(err)
	}
	if header := (<-got).Header; len(header) != 1 || header.Get("X-Value") != "one  X-Smuggled: two" {
		t.Errorf("header = %q", header)
	}
}

func TestUnwritableRequestsAreRefused(t *testing.T) {
	h := newHTTP(t, HTTPConfig{Address: "127.0.0.1:1"})
	for name, change := range map[string]func(*http.Request){
		"no length":          func(r *http.Request) { r.ContentLength = -1 },
		"space in method":    func(r *http.Request) { r.Method = "GET /x" },
		"line end in path":   func(r *http.Request) { r.RequestURI = "/\r\nHost: x" },
		"line end in host":   func(r *http.Request) { r.Host = "a\r\nb" },
		"nothing for a host": func(r *http.Request) { r.Host, r.URL.Host = "", "" },
	} {
		r := newRequest("POST", "body")
		body := &closeRecorder{Reader: r.Body}
		r.Body = body
		change(r)
		_, err := h.RoundTrip(r)
		if e := asError(t, err); e.Blame != Gateway || e.SafeToRetry() || !body.closed {
			t.Errorf("%s: %v, blame %v, body closed %v", name, err, e.Blame, body.closed)
		}
	}
}

func TestResponseFramings(t *testing.T) {
	for _, tc := range []struct{ name, method, raw, want string }{
		{"length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", "body"},
		{"chunked", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n", "body"},
		{"both, where chunked wins", "GET",
			"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "body"},
		{"until the end", "GET", "HTTP/1.1 200 OK\r\n\r\nbody", "body"},
		{"old version", "GET", "HTTP/1.0 200 OK\r\n\r\nbody", "body"},
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", ""},
		{"204", "GET", "HTTP/1.1 204 No Content\r\n\r\n", ""},
		{"304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", ""},
		{"413 of theirs", "POST", "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n", ""},
	} {
		h := newHTTP(t, HTTPConfig{Address: answering(t, tc.raw)})
		if got, err := send(h, newRequest(tc.method, "")); got != tc.want || err != nil {
			t.Errorf("%s: %q, %v", tc.name, got, err)
		}
	}
}

func TestTrailersArriveWithTheEnd(t *testing.T) {
	h := newHTTP(t, HTTPConfig{Address: answering(t,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\n\r\n4\r\nbody\r\n0\r\nSum: 42\r\n\r\n")})
	resp, err := h.RoundTrip(newRequest("GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	if got := resp.Trailer.Get("Sum"); got != "42" {
		t.Errorf("trailer = %q", got)
	}
}

func TestLongHeadsAreFine(t *testing.T) {
	link := strings.Repeat("x", 20<<10)
	h := newHTTP(t, HTTPConfig{Address: answering(t, "HTTP/1.1 200 OK\r\nLink: "+link+"\r\nContent-Length: 0\r\n\r\n")})
	resp, err := h.RoundTrip(newRequest("GET", ""))
	if err != nil || resp.Header.Get("Link") != link {
		t.Errorf("RoundTrip = %v", err)
	}
}

func TestEarlyHintsReachWhoeverAsked(t *testing.T) {
	addr, _ := httpBackend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</app.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, "page")
	})
	g := newGroup(t, Config{Backends: oneBackend(newHTTP(t, HTTPConfig{Address: addr}), 1)})
	var hints []string
	firsts := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotFirstResponseByte: func() { firsts++ },
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			hints = append(hints, fmt.Sprint(code, header.Get("Link")))
			return nil
		},
	})
	got, err := send(g, newRequest("GET", "").WithContext(ctx))
	if got != "page" || err != nil || len(hints) != 1 || hints[0] != "103</app.css>; rel=preload" || firsts != 1 {
		t.Errorf("%q, %v; hints %q, %d first bytes", got, err, hints, firsts)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })}
	go s.Serve(listener)
	defer s.Close()
	h := newHTTP(t, HTTPConfig{Address: "unix:" + path})
	for range 2 {
		if got, err := send(h, newRequest("GET", "")); got != "ok" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	s.Close()
	_, err = send(h, newRequest("POST", ""))
	if e := asError(t, err); !e.SafeToRetry() || e.Op != "dial" || e.Busy() {
		t.Errorf("after the end: %v, safe %v", err, e.SafeToRetry())
	}
}

func TestBadAddressIsRefused(t *testing.T) {
	for _, address := range []string{"", "localhost", "unix:", "http://127.0.0.1:8000"} {
		if _, err := NewHTTP(HTTPConfig{Address: address}); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}
