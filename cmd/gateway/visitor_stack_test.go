//go:build stack

package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"
)

// visitor asks one gateway for pages of localhost, over connections that it keeps.
type visitor struct {
	http.Client
	t    *testing.T
	addr string
}

// visit returns a visitor of p that waits a minute for an answer.
func visit(t *testing.T, p *process) *visitor {
	t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", p.addr)
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 64,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{http.Client{Transport: transport, Timeout: time.Minute}, t, p.addr}
}

// outcome is what became of one request. Its err is set when no whole answer came.
type outcome struct {
	status int
	header http.Header
	body   string
	err    error
	took   time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("%d after %s, %d bytes, %v", o.status, o.took.Round(time.Millisecond), len(o.body), o.err)
}

func (v *visitor) get(path string) outcome { return v.do("GET", path, nil) }

// do sends a request; a body whose length cannot be seen is sent in chunks.
func (v *visitor) do(method, path string, body io.Reader) outcome {
	r, err := http.NewRequest(method, "http://localhost"+path, body)
	if err != nil {
		return outcome{err: err}
	}
	return v.send(r)
}

// send counts a request as failed that net/http had to send twice, which it does by itself when a kept connection ends.
func (v *visitor) send(r *http.Request) (o outcome) {
	connections := 0
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connections++ },
	}))
	begun := time.Now()
	defer func() {
		o.took = time.Since(begun)
		if connections > 1 && o.err == nil {
			o.err = fmt.Errorf("sent on %d connections", connections)
		}
	}()
	resp, err := v.Do(r)
	if err != nil {
		return outcome{err: err}
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	return outcome{status: resp.StatusCode, header: resp.Header, body: string(page), err: err}
}

// stream is an answer whose body is still coming.
type stream struct {
	*http.Response
	t  *testing.T
	in *bufio.Reader
}

// open asks for a page and returns with its head.
func (v *visitor) open(path string) *stream {
	v.t.Helper()
	resp, err := v.Get("http://localhost" + path)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { resp.Body.Close() })
	return &stream{resp, v.t, bufio.NewReader(resp.Body)}
}

func (s *stream) line() string {
	s.t.Helper()
	line, err := s.in.ReadString('\n')
	if err != nil {
		s.t.Fatalf("%v after %q", err, line)
	}
	return line
}

// rest reads to the end and returns what that was, nil for a good one.
func (s *stream) rest() error {
	_, err := io.Copy(io.Discard, s.in)
	return err
}

// zeros is a body of n bytes whose length is not told.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// ok asks for a page that has to come whole, with 200.
func (v *visitor) ok(path string) outcome {
	v.t.Helper()
	o := v.get(path)
	if o.err != nil || o.status != http.StatusOK {
		v.t.Errorf("GET %s: %s, want 200", path, o)
	}
	return o
}

// prompt asks for a small page that must come with 200, and soon: nothing may be in its way.
func (v *visitor) prompt() {
	v.t.Helper()
	if o := v.ok("/api/ping"); o.took > 2*time.Second {
		v.t.Errorf("GET /api/ping took %s", o.took)
	}
}

// together runs n calls at the same time and returns what became of them.
func together(n int, call func(i int) outcome) []outcome {
	done := make(chan outcome)
	for i := range n {
		go func() { done <- call(i) }()
	}
	all := make([]outcome, n)
	for i := range all {
		all[i] = <-done
	}
	return all
}

// unique makes a name under which PHP counts, or says how a stream ended, that no other test has used, nor this one
// when it runs again.
func unique(name string) string { return fmt.Sprintf("%s-%d", name, time.Now().UnixNano()) }

// crowd is clients that ask again and again. stop lets them finish and returns what became of all requests.
func crowd(clients int, ask func() outcome) (stop func() []outcome) {
	var all []outcome
	var mu sync.Mutex // guards all
	var running sync.WaitGroup
	enough := make(chan struct{})
	for range clients {
		running.Go(func() {
			for {
				select {
				case <-enough:
					return
				default:
				}
				o := ask()
				mu.Lock()
				all = append(all, o)
				mu.Unlock()
			}
		})
	}
	return func() []outcome {
		close(enough)
		running.Wait()
		return all
	}
}

// wire is one connection to a gateway on which a test writes bytes as it likes.
type wire struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func dialWire(t *testing.T, p *process) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &wire{conn, t, bufio.NewReader(conn)}
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatal(err)
	}
}

// ask sends a GET and leaves its answer unread.
func (w *wire) ask(path string) {
	w.t.Helper()
	w.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

// head reads the head of an answer.
func (w *wire) head() *http.Response {
	w.t.Helper()
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// line reads one line of what comes.
func (w *wire) line() string {
	w.t.Helper()
	line, err := w.in.ReadString('\n')
	if err != nil {
		w.t.Fatalf("%v after %q", err, line)
	}
	return strings.TrimRight(line, "\r\n")
}
