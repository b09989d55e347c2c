package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gateway/upstream/spool"
)

func TestBodyOfUnknownLengthGetsOne(t *testing.T) {
	var got *http.Request
	g := newGroup(t, Config{SpoolDir: t.TempDir(), Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
		got = r
		again, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if one, _ := io.ReadAll(r.Body); len(one) != 100_000 {
			t.Errorf("body has %d bytes", len(one))
		}
		if two, _ := io.ReadAll(again); len(two) != 100_000 {
			t.Errorf("body has %d bytes the second time", len(two))
		}
		return newResponse(http.NoBody), nil
	}), 1)})
	r := newRequest("POST", "x")
	r.Body = io.NopCloser(iotest.HalfReader(strings.NewReader(strings.Repeat("x", 100_000))))
	r.ContentLength, r.TransferEncoding, r.Trailer = -1, []string{"chunked"}, http.Header{"Sum": nil}
	var trace Trace
	if _, err := send(g, r.WithContext(WithTrace(t.Context(), &trace))); err != nil {
		t.Fatal(err)
	}
	if got.ContentLength != 100_000 || got.TransferEncoding != nil || got.Trailer != nil {
		t.Errorf("length %d, encoding %v, trailer %v", got.ContentLength, got.TransferEncoding, got.Trailer)
	}
	if trace.BodyBytes != 100_000 || trace.Spool == 0 {
		t.Errorf("trace = %+v", trace)
	}
}

func TestEmptyBodyIsNone(t *testing.T) {
	transport := tripFunc(func(r *http.Request) (*http.Response, error) {
		if r.ContentLength != 0 || r.Body != http.NoBody || r.GetBody != nil {
			t.Errorf("length %d, body %v", r.ContentLength, r.Body)
		}
		return newResponse(nil), nil
	})
	g := newGroup(t, Config{Backends: oneBackend(transport, 1)})
	for _, body := range []io.ReadCloser{nil, http.NoBody, io.NopCloser(strings.NewReader(""))} {
		r := newRequest("POST", "")
		r.Body, r.ContentLength = body, -1
		if _, err := send(g, r); err != nil {
			t.Error(err)
		}
	}
	drain(t, g)
}

// closeRecorder notices that it was closed.
type closeRecorder struct {
	io.Reader
	closed bool
}

func (c *closeRecorder) Close() error {
	c.closed = true
	return nil
}

func TestBodyThatFailsReachesNoBackend(t *testing.T) {
	left := errors.New("client left")
	for _, tc := range []struct {
		name   string
		body   io.Reader
		length int64
		dir    string
		is     error
		blame  Blame
	}{
		{"client left", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(left)), 10, "", left, Client},
		{"too short", strings.NewReader("half"), 10, "", io.ErrUnexpectedEOF, Client},
		{"too long for the site", iotest.ErrReader(spool.ErrLimit), -1, "", spool.ErrLimit, Client},
		{"no room on the disk", strings.NewReader(strings.Repeat("x", 100)), 100, "/nonexistent", nil, Gateway},
	} {
		transport := &script{steps: []step{{}}}
		g := newGroup(t, Config{SpoolDir: tc.dir, SpoolMemory: 10, Backends: oneBackend(transport, 1)})
		body := &closeRecorder{Reader: tc.body}
		r := newRequest("POST", "")
		r.Body, r.ContentLength = body, tc.length
		_, err := send(g, r)
		if e := asError(t, err); e.Op != "spool" || e.Blame != tc.blame || (tc.is != nil && !errors.Is(err, tc.is)) {
			t.Errorf("%s: error = %v, blame %v", tc.name, err, e.Blame)
		}
		if len(transport.bodies) > 0 {
			t.Errorf("%s: the backend was asked", tc.name)
		}
		if !body.closed {
			t.Errorf("%s: the body was left open", tc.name)
		}
		drain(t, g)
	}
}

func TestUpgradeIsPassedOnUnread(t *testing.T) {
	body := &closeRecorder{Reader: strings.NewReader("early")}
	transport := tripFunc(func(r *http.Request) (*http.Response, error) {
		r.Body.Close()
		if body.closed {
			t.Error("closed by the transport, so a second attempt could not be made")
		}
		got, _ := io.ReadAll(r.Body)
		return newResponse(io.NopCloser(strings.NewReader(string(got)))), nil
	})
	g := newGroup(t, Config{SpoolDir: "/nonexistent", SpoolMemory: 1, Backends: oneBackend(transport, 1)})
	r := newRequest("GET", "")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Body, r.ContentLength = body, 5
	if got, err := send(g, r); got != "early" || err != nil {
		t.Errorf("backend saw %q, %v", got, err)
	}
	if !body.closed {
		t.Error("the body was left open")
	}
	drain(t, g)
}

func TestWhatIsAnUpgrade(t *testing.T) {
	for _, tc := range []struct {
		method, connection, upgrade string
		want                        bool
	}{
		{"GET", "Upgrade", "websocket", true},
		{"GET", "keep-alive , uPGRADE", "websocket", true},
		{"GET", "Upgrade", "", false},
		{"GET", "keep-alive", "websocket", false},
		{"GET", "upgrades", "websocket", false},
		{"GET", "", "", false},
		{"CONNECT", "", "", true},
	} {
		r := newRequest(tc.method, "")
		r.Header.Set("Connection", tc.connection)
		r.Header.Set("Upgrade", tc.upgrade)
		if got := isUpgrade(r); got != tc.want {
			t.Errorf("%s %q %q: %v", tc.method, tc.connection, tc.upgrade, got)
		}
	}
}

func TestTraceOfAnAttempt(t *testing.T) {
	g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(r *http.Request) (*http.Response, error) {
		return step{reused: true}.run(r)
	}), 1)})
	var trace Trace
	got := 0
	ctx := httptrace.WithClientTrace(WithTrace(t.Context(), &trace), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { got++ },
	})
	resp, err := g.RoundTrip(newRequest("GET", "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if !trace.Reused || trace.Dial != 0 || trace.FirstByte == 0 || trace.FirstByte > time.Second ||
		trace.Attempts != 1 || trace.Backend != "a" {
		t.Errorf("trace = %+v", trace)
	}
	if got != 1 {
		t.Errorf("hooks of whoever called were called %d times", got)
	}
	if resp.Request.Context() != ctx {
		t.Error("the response does not refer to the request that was given")
	}
}

func TestBrokenBodyIsReportedOnce(t *testing.T) {
	g := newGroup(t, Config{Backends: oneBackend(tripFunc(func(*http.Request) (*http.Response, error) {
		return newResponse(io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))), nil
	}), 1)})
	resp, err := g.RoundTrip(newRequest("GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := resp.Body.Read(make([]byte, 1))
		asError(t, err)
		if want := "upstream test: a: read body: unexpected EOF"; err.Error() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
	resp.Body.Close()
	if n := g.Status()[0].Failed; n != 1 {
		t.Errorf("counted %d times", n)
	}
	drain(t, g)
}

// slowSender fails at once, as when the client leaves, and goes on reading the request's body.
type slowSender struct {
	resume chan struct{}
	got    chan string
}

func (s *slowSender) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		<-s.resume
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			body = []byte(err.Error())
		}
		s.got <- string(body)
	}()
	return nil, context.Canceled
}

func TestBodyStaysWholeForATransportThatIsStillSending(t *testing.T) {
	sender := &slowSender{resume: make(chan struct{}), got: make(chan string)}
	g := newGroup(t, Config{Backends: []BackendConfig{{Addr: "a", Transport: sender}}})
	want := strings.Repeat("x", 200<<10) // part of it on disk
	if _, err := send(g, newRequest("POST", want)); err == nil {
		t.Fatal("no error")
	}
	close(sender.resume)
	if got := <-sender.got; got != want {
		t.Errorf("the transport read %d bytes, %.60q; want %d", len(got), got, len(want))
	}
}
