package http1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a handler does wrong, or a client's connection does under it, must show as the end of the connection: an answer
// that is longer or shorter than it says is read on in the next one.

func TestLengthThatIsSetTooLateDoesNotHold(t *testing.T) {
	for name, after := range map[string]func(w http.ResponseWriter){
		"at the end":    func(http.ResponseWriter) {},
		"flushed":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"written on":    func(w http.ResponseWriter) { io.WriteString(w, "!") },
		"written large": func(w http.ResponseWriter) { io.WriteString(w, strings.Repeat("!", heldSize)) },
	} {
		f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/next" {
				return
			}
			io.WriteString(w, "hello, world")
			w.Header().Set("Content-Length", "5")
			after(w)
		})
		nc := f.dial()
		from := bufio.NewReader(nc)
		f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, body := f.answer(from, "GET"); !strings.HasPrefix(body, "hello, world") {
			t.Errorf("%s: body = %.20q", name, body)
		}
		f.send(nc, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, body := f.answer(from, "GET"); resp.StatusCode != 200 || body != "" {
			t.Errorf("%s: the next answer is %d, %q", name, resp.StatusCode, body)
		}
	}
}

// The sum of what was written and what a reader may hold does not fit an int64.
func TestReaderWithoutLimitDoesNotLiftTheLength(t *testing.T) {
	path := t.TempDir() + "/file"
	writeFile(t, path, strings.Repeat("x", 100000))
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		w.Header().Set("Content-Length", "5000")
		io.WriteString(w, "x")
		io.Copy(w, io.LimitReader(file, 1<<63-1))
	})
	_, body, _ := strings.Cut(f.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "\r\n\r\n")
	if len(body) > 5000 {
		t.Errorf("the body has %d bytes, want 5000 at most", len(body))
	}
}

// The client that stops reading for a while misses a part of its answer, and must not take the next one for it.
func TestNothingFollowsAWriteThatFailed(t *testing.T) {
	const pieces = 64
	piece := strings.Repeat("x", 1<<20)
	missed := make(chan struct{})
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(pieces*len(piece)))
		control, late := http.NewResponseController(w), false
		for range pieces {
			if !late {
				control.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
			}
			if _, err := io.WriteString(w, piece); err != nil && !late {
				late = true
				control.SetWriteDeadline(time.Time{})
				close(missed)
			}
		}
		if r.Context().Err() == nil {
			t.Error("the request goes on")
		}
	})
	nc := f.dial()
	f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	<-missed
	all, err := io.ReadAll(nc)
	if len(all) > pieces*len(piece) || strings.Count(string(all), "HTTP/1.1 200 OK") != 1 {
		t.Errorf("%d bytes, %v: more than a part of one answer", len(all), err)
	}
}

// until waits for what nothing signals.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(10 * time.Second); !is(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// each says whether something is true of all connections.
func (s *Server) each(is func(*conn) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		ok := is(c)
		c.mu.Unlock()
		if !ok {
			return false
		}
	}
	return true
}

func TestHijackedConnectionSurvivesAnAbort(t *testing.T) {
	taken := make(chan net.Conn, 1)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		nc, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
		}
		taken <- nc
		panic(http.ErrAbortHandler)
	})
	nc := f.dial()
	f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	until(t, "the server lets go of it", func() bool { return f.each(func(*conn) bool { return false }) })
	server := <-taken
	defer server.Close()
	if _, err := io.WriteString(server, "still there"); err != nil {
		t.Error(err)
	}
}

// A socket that is closed with something unread is reset, and what has not left it by then is lost.
func TestLastAnswerIsWholeAlthoughMoreWasSent(t *testing.T) {
	const length = 6 << 20
	text := strings.Repeat("x", length)
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) })
	for _, more := range []string{"\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("x", 100000)} {
		nc := f.dial()
		f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"+more)
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != length || err != nil {
			t.Errorf("%.5q behind the request: %d bytes, %v; want %d", more, n, err, length)
		}
	}
}

// The server that ends must not break off the body of a request that came at the very same time.
func TestShutdownDoesNotHurryARequestThatHasBegun(t *testing.T) {
	client, server := net.Pipe()
	slow := &slowToHurry{Conn: server, hurried: make(chan struct{}), goOn: make(chan struct{})}
	got := make(chan error, 1)
	s := New(Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			return
		}
		slow.release()
		_, err := io.ReadAll(r.Body)
		got <- err
	})})
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(slow)
	}()
	from := bufio.NewReader(client)
	go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := http.ReadResponse(from, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the connection waits", func() bool { return s.each(func(c *conn) bool { return c.phase == phaseIdle }) })
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(context.Background()) }()
	<-slow.hurried
	go func() {
		io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
		<-slow.goOn
		io.WriteString(client, "hello")
	}()
	if _, err := http.ReadResponse(from, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the body: %v", err)
	}
	client.Close()
	<-served
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// slowToHurry is a connection whose deadline is set late when the server ends: after the next request has begun, if that
// can be.
type slowToHurry struct {
	net.Conn
	hurried, goOn chan struct{}
}

func (c *slowToHurry) SetReadDeadline(t time.Time) error {
	if t.Equal(past) {
		select {
		case <-c.hurried:
		default:
			close(c.hurried)
			select {
			case <-c.goOn:
			case <-time.After(100 * time.Millisecond):
				c.release()
			}
		}
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *slowToHurry) release() {
	select {
	case <-c.goOn:
	default:
		close(c.goOn)
	}
}
