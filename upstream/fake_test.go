package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

// tripFunc is a transport of one function.
type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fakeError is a transport's error with every behaviour that a group asks about.
type fakeError struct {
	safe, busy, timeout bool
	released            chan struct{}
}

func (e *fakeError) Error() string             { return "fake failure" }
func (e *fakeError) SafeToRetry() bool         { return e.safe }
func (e *fakeError) Busy() bool                { return e.busy }
func (e *fakeError) Timeout() bool             { return e.timeout }
func (e *fakeError) Released() <-chan struct{} { return e.released }

var (
	errDial    = &fakeError{safe: true}
	errBusy    = &fakeError{safe: true, busy: true}
	errTimeout = &fakeError{timeout: true}
	errCut     = errors.New("connection ended")
)

// step is what a transport does with one request, the hooks included.
type step struct {
	err       error
	reused    bool
	noConn    bool // fails before there is a connection
	firstByte bool // an answer had begun
}

func (s step) run(r *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(r.Context())
	if s.err != nil && (s.noConn || isSafe(s.err)) {
		return nil, s.err
	}
	trace.GotConn(httptrace.GotConnInfo{Reused: s.reused})
	if s.err == nil || s.firstByte {
		trace.GotFirstResponseByte()
	}
	if s.err != nil {
		return nil, s.err
	}
	return newResponse(io.NopCloser(strings.NewReader("ok"))), nil
}

func newResponse(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: -1}
}

// script is a transport that does one step after the other, and the last for ever.
type script struct {
	steps       []step
	bodies      []string // that it was sent
	closedIdles int
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.bodies = append(s.bodies, string(body))
	next := s.steps[min(len(s.bodies), len(s.steps))-1]
	return next.run(r)
}

func (s *script) CloseIdle() { s.closedIdles++ }

// gate is a transport whose responses begin at once and end when they are told to.
type gate struct {
	began chan *http.Request
	end   chan struct{}
}

func newGate() *gate { return &gate{began: make(chan *http.Request, 100), end: make(chan struct{})} }

func (t *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	t.began <- r
	select {
	case <-t.end:
		return newResponse(http.NoBody), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func newGroup(t testing.TB, cfg Config) *Group {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "test"
	}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func oneBackend(transport http.RoundTripper, cap int) []BackendConfig {
	return []BackendConfig{{Addr: "a", Transport: transport, MaxInFlight: cap}}
}

func newRequest(method, body string) *http.Request {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, "http://site.example/", r)
	if err != nil {
		panic(err)
	}
	return req
}

// send does one request and reads its response to the end.
func send(g http.RoundTripper, r *http.Request) (string, error) {
	resp, err := g.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// drain fails the test when slots are left taken.
func drain(t testing.TB, g *Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		t.Fatalf("not drained: %v; queued %d, %+v", err, g.Queued(), g.Status())
	}
	if g.Queued() != 0 {
		t.Errorf("%d still queued", g.Queued())
	}
	for _, b := range g.Status() {
		if b.InFlight != 0 {
			t.Errorf("%s still has %d in flight", b.Addr, b.InFlight)
		}
	}
}

// asError returns err as the *Error that every failure must be.
func asError(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v (%T), want an *Error", err, err)
	}
	return e
}
