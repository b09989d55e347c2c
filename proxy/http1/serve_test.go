package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// fixture is a server on a loopback port.
type fixture struct {
	*Server
	t    testing.TB
	addr string
}

func serve(t testing.TB, limits Limits, handler http.HandlerFunc) *fixture {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, socket, limits, handler)
}

func serveOn(t testing.TB, socket net.Listener, limits Limits, handler http.HandlerFunc) *fixture {
	s := New(Config{Handler: handler, Limits: func() Limits { return limits }})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			nc, err := socket.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.Serve(nc) })
		}
	})
	t.Cleanup(func() {
		socket.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		all.Wait()
	})
	return &fixture{s, t, socket.Addr().String()}
}

func (f *fixture) dial() *net.TCPConn {
	f.t.Helper()
	nc, err := net.Dial("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return nc.(*net.TCPConn)
}

// raw sends request on a connection of its own and returns all that comes back, until the server closes.
func (f *fixture) raw(request string) string {
	f.t.Helper()
	nc := f.dial()
	f.send(nc, request)
	answer, err := io.ReadAll(nc)
	if err != nil {
		f.t.Errorf("%.80q: %v after %q", request, err, answer)
	}
	return string(answer)
}

func (f *fixture) send(nc net.Conn, request string) {
	f.t.Helper()
	if _, err := io.WriteString(nc, request); err != nil {
		f.t.Fatal(err)
	}
}

// answer reads one answer with its body.
func (f *fixture) answer(from *bufio.Reader, method string) (*http.Response, string) {
	f.t.Helper()
	resp, err := http.ReadResponse(from, &http.Request{Method: method})
	if err != nil {
		f.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(body)
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestShortAnswerHasItsLengthAndADate(t *testing.T) {
	f := serve(t, Limits{}, hello)
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\nDate: ") || !strings.HasSuffix(head, "GMT\r\nContent-Length: 5\r\nConnection: close") ||
		body != "hello" {
		t.Errorf("answer = %q", answer)
	}
}

func TestManyRequestsOnOneConnection(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
		io.WriteString(w, r.RequestURI)
	})
	nc := f.dial()
	from := bufio.NewReader(nc)
	for _, c := range []struct{ request, want string }{
		{"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "/a"},
		{"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz", "xyz/b"},
		{"\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n", "/c"},
		{"POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;ext=\"v\"\r\nx\r\nA\r\n0123456789\r\n0\r\nTrailer: dropped\r\n\r\n", "x0123456789/d"},
		{"GET /e HTTP/1.1\r\nHost: x\r\n\r\nGET /f HTTP/1.1\r\nHost: x\r\n\r\n", "/e"},
		{"", "/f"},
	} {
		f.send(nc, c.request)
		if resp, body := f.answer(from, "GET"); resp.StatusCode != 200 || body != c.want || resp.Close {
			t.Errorf("%q: %d, %q, close %v; want 200, %q", c.request, resp.StatusCode, body, resp.Close, c.want)
		}
	}
}

func TestRequestArrivesByteByByte(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "hello" || r.Header.Get("X") != "y" {
			t.Errorf("body = %q, %v; header = %v", body, err, r.Header)
		}
	})
	nc := f.dial()
	for _, b := range []byte("POST / HTTP/1.1\r\nHost: x\r\nX:y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n") {
		f.send(nc, string(b))
	}
	if resp, _ := f.answer(bufio.NewReader(nc), "POST"); resp.StatusCode != 200 {
		t.Errorf("status = %d", resp.StatusCode)
	}
}

func TestHTTP10(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
		if r.URL.Path == "/flushed" {
			w.(http.Flusher).Flush()
		}
	})
	closed := f.raw("GET / HTTP/1.0\r\n\r\n")
	if !strings.HasPrefix(closed, "HTTP/1.0 200 OK\r\n") || strings.Contains(closed, "Connection:") {
		t.Errorf("plain: %q", closed)
	}
	kept := f.raw("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /flushed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
	if strings.Count(kept, "HTTP/1.0 200 OK") != 2 || strings.Count(kept, "Connection: keep-alive") != 1 ||
		strings.Contains(kept, "chunked") || !strings.HasSuffix(kept, "\r\n\r\nhello") {
		t.Errorf("kept: %q", kept)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			w.Header().Set("Content-Length", "7")
			return
		}
		hello(w, r)
	})
	nc := f.dial()
	from := bufio.NewReader(nc)
	for path, want := range map[string]int64{"/set": 7, "/written": 5} {
		f.send(nc, "HEAD "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, body := f.answer(from, "HEAD"); resp.ContentLength != want || body != "" {
			t.Errorf("%s: length %d, body %q; want %d", path, resp.ContentLength, body, want)
		}
	}
}

func TestStatusesWithoutBody(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		if r.URL.Path == "/304" {
			w.WriteHeader(304)
		} else {
			w.WriteHeader(204)
		}
		if _, err := w.Write([]byte("hello")); err != http.ErrBodyNotAllowed {
			t.Errorf("write: %v, want ErrBodyNotAllowed", err)
		}
	})
	for _, path := range []string{"/304", "/204"} {
		answer := f.raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if strings.Contains(answer, "Content-Length") || !strings.HasSuffix(answer, "\r\n\r\n") {
			t.Errorf("%s: %q", path, answer)
		}
	}
}

func TestLongAnswerOfUnknownLengthIsChunked(t *testing.T) {
	piece := strings.Repeat("x", 3000)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		for range 5 {
			io.WriteString(w, piece)
		}
	})
	nc := f.dial()
	f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, body := f.answer(bufio.NewReader(nc), "GET")
	if len(resp.TransferEncoding) != 1 || body != strings.Repeat(piece, 5) {
		t.Errorf("coding %v, %d bytes", resp.TransferEncoding, len(body))
	}
}

func TestWriteBeyondTheDeclaredLength(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
		if _, err := io.WriteString(w, "x"); err != http.ErrContentLength {
			t.Errorf("write: %v, want ErrContentLength", err)
		}
	})
	if answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(answer, "\r\n\r\nhello") {
		t.Errorf("answer = %q", answer)
	}
}

// A client must be able to tell that it has not got everything.
func TestAnswerThatFallsShortEndsTheConnection(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "9")
		io.WriteString(w, "hello")
	})
	if answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasSuffix(answer, "\r\n\r\nhello") {
		t.Errorf("answer = %q", answer)
	}
}

func TestAbortedAnswerIsSeenAsSuch(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, version := range []string{"1.0", "1.1"} {
		nc := f.dial()
		f.send(nc, "GET / HTTP/"+version+"\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("HTTP/%s: %q looks complete", version, body)
		}
	}
}

func TestFieldsOfAnAnswerCannotBreakOut(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Split"] = []string{"a\r\nSet-Cookie: b\x00"}
		w.Header()["Bad Name:"] = []string{"x"}
		w.Header()["Transfer-Encoding"] = []string{"chunked"}
		w.Header()["Connection"] = []string{"upgrade"}
	})
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.Contains(answer, "\r\nX-Split: a  Set-Cookie: b \r\n") || strings.Contains(answer, "Bad Name") ||
		strings.Contains(answer, "chunked") || strings.Contains(answer, "upgrade") {
		t.Errorf("answer = %q", answer)
	}
}

func TestHintsGoBeforeTheAnswer(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		hello(w, r)
	})
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n") {
		t.Errorf("answer = %q", answer)
	}
}

func TestContinueIsSentWhenTheBodyIsWanted(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wanted" {
			io.Copy(w, r.Body)
		}
	})
	const head = " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
	nc := f.dial()
	from := bufio.NewReader(nc)
	f.send(nc, "POST /wanted"+head)
	if line, _ := from.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("first line = %q", line)
	}
	from.ReadString('\n')
	f.send(nc, "hello")
	if _, body := f.answer(from, "POST"); body != "hello" {
		t.Errorf("body = %q", body)
	}
	if answer := f.raw("POST /unwanted" + head); !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") ||
		!strings.Contains(answer, "Connection: close") {
		t.Errorf("unwanted: %q", answer)
	}
}

func TestUnreadBodyIsTakenOffTheConnection(t *testing.T) {
	f := serve(t, Limits{UnreadTimeout: 100 * time.Millisecond}, hello)
	nc := f.dial()
	from := bufio.NewReader(nc)
	f.send(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n"+strings.Repeat("x", 70000)+"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for range 2 {
		if resp, body := f.answer(from, "POST"); resp.StatusCode != 200 || body != "hello" {
			t.Errorf("%d, %q", resp.StatusCode, body)
		}
	}
	// One that does not come ends the connection, and one that is too large is not waited for.
	f.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\nhalf")
	if answer := f.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7000000\r\n\r\nhalf"); !strings.Contains(answer, "Connection: close") {
		t.Errorf("answer = %q", answer)
	}
}

func TestEndWithinABodyIsToldFromItsEnd(t *testing.T) {
	got := make(chan error, 1)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		got <- err
	})
	for _, request := range []string{"Content-Length: 9\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n9\r\nhalf",
		"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n"} {
		nc := f.dial()
		f.send(nc, "POST / HTTP/1.1\r\nHost: x\r\n"+request)
		nc.CloseWrite()
		if err := <-got; err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %v, want unexpected EOF", request, err)
		}
	}
}

func TestContextEndsWhenTheClientLeaves(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		began <- struct{}{}
		<-r.Context().Done()
		ended <- context.Cause(r.Context())
	})
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"} {
		nc := f.dial()
		f.send(nc, request)
		<-began
		nc.Close()
		if err := <-ended; err != context.Canceled {
			t.Errorf("%q: %v", request, err)
		}
	}
}

// What a client sends ahead must not be lost to the eye that looks whether it is still there.
func TestPipelinedRequestSurvivesTheWatch(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			began <- struct{}{}
			<-goOn
		}
		io.WriteString(w, r.URL.Path)
	})
	nc := f.dial()
	from := bufio.NewReader(nc)
	f.send(nc, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-began
	f.send(nc, "GET /next HTTP/1.1\r\n")
	f.watchEnded()
	f.send(nc, "Host: x\r\n\r\n")
	close(goOn)
	for _, want := range []string{"/slow", "/next"} {
		if _, body := f.answer(from, "GET"); body != want {
			t.Errorf("body = %q, want %q", body, want)
		}
	}
}

// watchEnded waits until the watch of the only connection has read something.
func (f *fixture) watchEnded() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		for deadline := time.Now().Add(10 * time.Second); ; {
			c.watch.mu.Lock()
			ended := c.watch.ended
			c.watch.mu.Unlock()
			if ended != nil {
				<-ended
				return
			}
			if time.Now().After(deadline) {
				f.t.Fatal("the watch did not begin")
			}
			runtime.Gosched()
		}
	}
}

func TestSlowHeadAndIdleConnectionAreClosed(t *testing.T) {
	f := serve(t, Limits{HeaderTimeout: 60 * time.Millisecond, IdleTimeout: 80 * time.Millisecond}, hello)
	if answer := f.raw("GET / HTTP/1.1\r\nHo"); answer != "" {
		t.Errorf("slow first head: %q", answer)
	}
	answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT")
	if strings.Count(answer, "HTTP/1.1") != 1 {
		t.Errorf("slow second head: %q", answer)
	}
	if answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); strings.Count(answer, "HTTP/1.1") != 1 {
		t.Errorf("idle: %q", answer)
	}
}

// The time for a head is not over again for each of its bytes, nor does the one of the wait before it go on.
func TestHandlerMayTakeLongerThanTheTimesForWaiting(t *testing.T) {
	f := serve(t, Limits{HeaderTimeout: 20 * time.Millisecond, IdleTimeout: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			t.Error("the request ended")
		case <-time.After(100 * time.Millisecond):
		}
		hello(w, r)
	})
	if answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(answer, "hello") {
		t.Errorf("answer = %q", answer)
	}
}

func TestDeadlinesOfTheHandler(t *testing.T) {
	got := make(chan error, 1)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		if r.ContentLength > 0 {
			_, err := io.ReadAll(r.Body)
			got <- err
			return
		}
		control.SetReadDeadline(past) // ends the request, although the client is there
		<-r.Context().Done()
		got <- r.Context().Err()
	})
	f.raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhalf")
	if err, ok := (<-got).(net.Error); !ok || !err.Timeout() {
		t.Errorf("body: %v, want a timeout", err)
	}
	f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if err := <-got; err != context.Canceled {
		t.Errorf("context: %v", err)
	}
}

func TestHijack(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		nc, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := w.Write([]byte("x")); err != http.ErrHijacked {
			t.Errorf("write: %v", err)
		}
		go func() {
			defer nc.Close()
			io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
			io.Copy(nc, rw)
		}()
	})
	nc := f.dial()
	f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nearly ")
	f.send(nc, "late")
	nc.CloseWrite()
	answer, err := io.ReadAll(nc)
	if err != nil || !strings.HasSuffix(string(answer), "\r\n\r\nearly late") {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestFileGoesOutWhole(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 20000)
	path := t.TempDir() + "/file"
	writeFile(t, path, text)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
	nc := f.dial()
	from := bufio.NewReader(nc)
	for _, c := range []struct{ field, want string }{
		{"X: y", text}, {"Range: bytes=5-8", "5678"}, {"Range: bytes=5-300000", text[5:300001]},
	} {
		f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n"+c.field+"\r\n\r\n")
		if _, body := f.answer(from, "GET"); body != c.want {
			t.Errorf("%s: %d bytes, want %d", c.field, len(body), len(c.want))
		}
	}
}

func TestOverTLS(t *testing.T) {
	certs := httptest.NewTLSServer(nil)
	defer certs.Close()
	socket, err := tls.Listen("tcp", "127.0.0.1:0", certs.TLS)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 100000)
	f := serveOn(t, handshaking{socket}, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || !r.TLS.HandshakeComplete {
			t.Errorf("TLS = %v", r.TLS)
		}
		w.Header().Set("Content-Length", "100000")
		io.WriteString(w, large)
	})
	for range 3 {
		resp, err := certs.Client().Get("https://" + f.addr)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != large {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		resp.Body.Close()
	}
	certs.Client().CloseIdleConnections()
}

// handshaking returns connections whose handshake is over.
type handshaking struct{ net.Listener }

func (l handshaking) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil {
		err = nc.(*tls.Conn).Handshake()
	}
	return nc, err
}
