package fastcgi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gateway/fastcgi/fcgitest"
)

// upload is a request with a body of its own kind and length.
func upload(t *testing.T, body io.Reader, length int64) (*http.Request, *closeNotifier) {
	t.Helper()
	c := &closeNotifier{Reader: body, closed: make(chan struct{})}
	r := withBody(t, WithEnv(t.Context(), newEnv()), "POST", c)
	r.ContentLength = length
	return r, c
}

type closeNotifier struct {
	io.Reader
	closed chan struct{}
}

func (c *closeNotifier) Close() error {
	close(c.closed)
	return nil
}

func TestUploadOfEverySize(t *testing.T) {
	page := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	r := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	tr := newTransport(t, r, keep(1))
	for i, n := range []int{0, 1, smallMessage, smallMessage + 1, maxContent, maxContent + 1, 2 * maxContent, len(page)} {
		req, body := upload(t, iotest.HalfReader(bytes.NewReader(page[:n])), int64(n))
		send(t, tr, req)
		got := r.Requests()[i]
		if !bytes.Equal(got.Stdin, page[:n]) || !got.Whole {
			t.Errorf("%d bytes: %d arrived, whole %t", n, len(got.Stdin), got.Whole)
		}
		await(t, body.closed, "closing the request's body")
	}
	if r.Conns() != 1 {
		t.Errorf("%d connections, want one", r.Conns())
	}
}

func TestLongerBodyIsCutAtItsLength(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	req, _ := upload(t, strings.NewReader("123456789"), 5)
	send(t, newTransport(t, r), req)
	if got := string(r.Requests()[0].Stdin); got != "12345" {
		t.Errorf("STDIN = %q, want 12345", got)
	}
}

func TestSmallBodyThatFailsIsNeverSent(t *testing.T) {
	r := fcgitest.New(t)
	for _, source := range []io.Reader{strings.NewReader("123"), iotest.ErrReader(errors.New("disk gone"))} {
		req, body := upload(t, source, 5)
		if e := refusal(t, newTransport(t, r), req); !errors.Is(e, ErrRequestBody) || e.Op != "body" {
			t.Errorf("error = %v, want ErrRequestBody", e)
		}
		await(t, body.closed, "closing the request's body")
	}
	if r.Conns() != 0 {
		t.Errorf("%d connections were made", r.Conns())
	}
}

func TestLargeBodyThatFailsEndsTheCall(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "half"))
	source := io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), iotest.ErrReader(errors.New("disk gone")))
	req, body := upload(t, source, 200_000)
	e := refusal(t, newTransport(t, r), req)
	if !errors.Is(e, ErrRequestBody) || !strings.Contains(e.Error(), "disk gone") {
		t.Errorf("error = %v, want ErrRequestBody: disk gone", e)
	}
	await(t, body.closed, "closing the request's body")
	await(t, e.Released(), "release")
	waitUntil(t, func() bool { return len(r.Requests()) == 1 })
	if r.Requests()[0].Whole {
		t.Error("the half body was ended as if it were whole")
	}
}

func TestAnswerBeforeTheBodyIsRead(t *testing.T) {
	page := strings.Repeat("answer ", 300_000)
	r := fcgitest.New(t, fcgitest.ReadStdinBytes(1), fcgitest.Stdout(textHead+page), fcgitest.End(0, 0))
	req, body := upload(t, strings.NewReader(strings.Repeat("x", 20<<20)), 20<<20)
	if _, got := send(t, newTransport(t, r, keep(1)), req); got != page {
		t.Errorf("got %d bytes, want %d", len(got), len(page))
	}
	await(t, body.closed, "closing the request's body")
}

func TestConnectionWithHalfABodyIsNotKept(t *testing.T) {
	r := fcgitest.New(t, fcgitest.ReadParams(), fcgitest.Reply(200, "early"), fcgitest.AwaitClose())
	tr := newTransport(t, r, keep(1))
	for range 2 {
		req, _ := upload(t, strings.NewReader(strings.Repeat("x", 5<<20)), 5<<20)
		send(t, tr, req)
	}
	if r.Conns() != 2 {
		t.Errorf("%d connections, want 2", r.Conns())
	}
}

func TestAnswerThenCutWhileSending(t *testing.T) {
	r := fcgitest.New(t, fcgitest.ReadParams(), fcgitest.Stdout(textHead+"part"), fcgitest.Cut())
	req, body := upload(t, strings.NewReader(strings.Repeat("x", 5<<20)), 5<<20)
	resp, err := newTransport(t, r).RoundTrip(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if !errors.Is(err, ErrTruncated) {
		t.Errorf("error = %v, want ErrTruncated", err)
	}
	await(t, body.closed, "closing the request's body")
}

func TestWriteTimeout(t *testing.T) {
	r := fcgitest.New(t, fcgitest.ReadParams(), fcgitest.Hang(nil))
	tr := newTransport(t, r, func(c *Config) { c.WriteTimeout = 50 * time.Millisecond })
	req, body := upload(t, strings.NewReader(strings.Repeat("x", 20<<20)), 20<<20)
	e := refusal(t, tr, req)
	if !e.Timeout() || e.SafeToRetry() {
		t.Errorf("error = %v, timeout %t, safe %t", e, e.Timeout(), e.SafeToRetry())
	}
	await(t, body.closed, "closing the request's body")
	tr.Close()
	await(t, e.Released(), "release")
}

func TestFirstByteClockStartsAfterTheBody(t *testing.T) {
	const timeout = 100 * time.Millisecond
	late := make(chan struct{})
	time.AfterFunc(2*timeout, func() { close(late) })
	r := fcgitest.New(t, fcgitest.ReadParams(), fcgitest.Hang(late), fcgitest.ReadStdin(), fcgitest.Reply(200, "ok"))
	tr := newTransport(t, r, func(c *Config) { c.FirstByteTimeout = timeout })
	req, _ := upload(t, strings.NewReader(strings.Repeat("x", 20<<20)), 20<<20)
	if _, body := send(t, tr, req); body != "ok" {
		t.Errorf("body = %q", body)
	}
	r.Then(fcgitest.ReadStdin(), fcgitest.Hang(nil))
	req, _ = upload(t, strings.NewReader(strings.Repeat("x", 1<<20)), 1<<20)
	if e := refusal(t, tr, req); !e.Timeout() {
		t.Errorf("error = %v, want a timeout", e)
	}
}

// A script must never run with half of a body, so what was begun is sent to its end although nobody waits.
func TestCancelledUploadIsStillSentWhole(t *testing.T) {
	begun, goOn, read := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r := fcgitest.New(t, fcgitest.ReadStdinBytes(1), fcgitest.Call(func() { close(begun) }), fcgitest.Hang(goOn),
		fcgitest.Stdout(textHead+"early output"), fcgitest.ReadStdin(), fcgitest.Call(func() { close(read) }), fcgitest.AwaitClose())
	ctx, cancel := context.WithCancel(WithEnv(t.Context(), newEnv()))
	defer cancel()
	req := withBody(t, ctx, "POST", strings.NewReader(strings.Repeat("x", 20<<20)))
	tr := newTransport(t, r)
	go func() {
		<-begun
		cancel()
	}()
	e := refusal(t, tr, req)
	if !errors.Is(e, context.Canceled) || isClosed(e.Released()) {
		t.Errorf("error = %v, released %t", e, isClosed(e.Released()))
	}
	close(goOn)
	await(t, read, "reading the whole body")
	if got := r.Requests()[0]; len(got.Stdin) != 20<<20 || !got.Whole {
		t.Errorf("%d bytes arrived, whole %t", len(got.Stdin), got.Whole)
	}
	tr.Close()
	await(t, e.Released(), "release")
}

func TestCancelWhileParamsAreSent(t *testing.T) {
	path, drain := fcgitest.FullBacklog(t)
	drain()
	tr, err := New(Config{Network: "unix", Address: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	env := newEnv()
	for i := range 16 {
		env.Params = append(env.Params, Param{"P" + string(rune('a'+i)), strings.Repeat("v", 60_000)})
	}
	ctx, cancel := context.WithTimeout(WithEnv(t.Context(), env), 50*time.Millisecond)
	defer cancel()
	e := refusal(t, tr, withBody(t, ctx, "GET", nil))
	if !errors.Is(e, context.DeadlineExceeded) || !e.SafeToRetry() || !isClosed(e.Released()) {
		t.Errorf("error = %v, safe %t, released %t", e, e.SafeToRetry(), isClosed(e.Released()))
	}
}
