package fastcgi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

// cancellable is newRequest with a context of its own.
func cancellable(t *testing.T, method, body string) (*http.Request, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(WithEnv(t.Context(), newEnv()))
	t.Cleanup(cancel)
	return withBody(t, ctx, method, strings.NewReader(body)), cancel
}

func TestCancelledRequestLingers(t *testing.T) {
	finish, closed := make(chan struct{}), make(chan struct{})
	var cancel context.CancelFunc
	r := fcgitest.New(t, fcgitest.Call(func() { cancel() }), fcgitest.Hang(finish), fcgitest.Stdout(textHead+"too late"),
		fcgitest.AwaitClose(), fcgitest.Call(func() { close(closed) }))
	var req *http.Request
	req, cancel = cancellable(t, "GET", "")
	e := refusal(t, newTransport(t, r), req)
	if !errors.Is(e, context.Canceled) || e.SafeToRetry() {
		t.Errorf("error = %v, safe %t, want context.Canceled, false", e, e.SafeToRetry())
	}
	if isClosed(e.Released()) || isClosed(closed) {
		t.Error("the worker of a silent script counts as released")
	}
	close(finish)
	await(t, closed, "closing at the first bytes")
	await(t, e.Released(), "release")
}

func TestLingeringEndsWithTheScript(t *testing.T) {
	finish := make(chan struct{})
	var cancel context.CancelFunc
	r := fcgitest.New(t, fcgitest.Call(func() { cancel() }), fcgitest.Hang(finish), fcgitest.Cut())
	var req *http.Request
	req, cancel = cancellable(t, "GET", "")
	e := refusal(t, newTransport(t, r), req)
	if isClosed(e.Released()) {
		t.Error("released while the script runs")
	}
	close(finish)
	await(t, e.Released(), "release")
}

func TestLingeringEndsAfterFirstByteTimeout(t *testing.T) {
	closed := make(chan struct{})
	r := fcgitest.New(t, fcgitest.AwaitClose(), fcgitest.Call(func() { close(closed) }))
	tr := newTransport(t, r, func(c *Config) { c.FirstByteTimeout = 50 * time.Millisecond })
	e := refusal(t, tr, newRequest(t, "GET", ""))
	if !e.Timeout() || e.SafeToRetry() || e.Busy() {
		t.Errorf("error = %v: timeout %t, safe %t, busy %t, want only the first", e, e.Timeout(), e.SafeToRetry(), e.Busy())
	}
	if !strings.HasSuffix(e.Error(), "no answer for 50ms") {
		t.Errorf("error = %q", e)
	}
	await(t, closed, "closing a silent connection")
	await(t, e.Released(), "release")
}

func TestTransportCloseEndsLingering(t *testing.T) {
	var cancel context.CancelFunc
	r := fcgitest.New(t, fcgitest.Call(func() { cancel() }), fcgitest.Hang(nil))
	tr := newTransport(t, r)
	var req *http.Request
	req, cancel = cancellable(t, "GET", "")
	e := refusal(t, tr, req)
	tr.Close()
	if !isClosed(e.Released()) {
		t.Error("still lingering after Close")
	}
	if e := refusal(t, tr, newRequest(t, "GET", "")); !errors.Is(e, ErrClosed) || !e.SafeToRetry() {
		t.Errorf("error = %v, safe %t, want ErrClosed, true", e, e.SafeToRetry())
	}
}

func TestAbandonedAfterCloseIsDropped(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"a"), fcgitest.Hang(nil))
	tr := newTransport(t, r)
	resp, err := tr.RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	tr.Close()
	resp.Body.Close()
	if !isClosed(resp.Body.(*body).Released()) {
		t.Error("lingers although the transport is closed")
	}
}

func TestCloseMidBodyLingers(t *testing.T) {
	finish := make(chan struct{})
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"part"), fcgitest.Hang(finish), fcgitest.Stdout("more"), fcgitest.AwaitClose())
	resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	b := resp.Body.(*body)
	if isClosed(b.Released()) {
		t.Error("released before the body was closed")
	}
	resp.Body.Close()
	if isClosed(b.Released()) {
		t.Error("released while the script is silent")
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("error after Close = %v", err)
	}
	close(finish)
	await(t, b.Released(), "release")
}

func TestCloseWakesARead(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"part"), fcgitest.Hang(nil))
	resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 4))
	read := make(chan error)
	go func() {
		_, err := resp.Body.Read(make([]byte, 1))
		read <- err
	}()
	resp.Body.Close()
	select {
	case err := <-read:
		if !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("error = %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Read still waits after Close")
	}
}

func TestCancelWhileReadingTheBody(t *testing.T) {
	var cancel context.CancelFunc
	read := make(chan struct{})
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"part"), fcgitest.Hang(read), fcgitest.Call(func() { cancel() }), fcgitest.Hang(nil))
	var req *http.Request
	req, cancel = cancellable(t, "GET", "")
	resp, err := newTransport(t, r).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 4))
	close(read)
	_, err = io.Copy(io.Discard, resp.Body)
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, context.Canceled) || isClosed(e.Released()) {
		t.Errorf("error = %v, want an *Error of context.Canceled that is not released", err)
	}
}

func TestWholeAnswerSurvivesCancel(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "all of it"))
	req, cancel := cancellable(t, "GET", "")
	resp, err := newTransport(t, r).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if !isClosed(resp.Body.(*body).Released()) {
		t.Error("the worker is not released although END_REQUEST has come")
	}
	cancel()
	if b, err := io.ReadAll(resp.Body); string(b) != "all of it" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestContextThatHasEnded(t *testing.T) {
	r := fcgitest.New(t)
	req, cancel := cancellable(t, "GET", "")
	cancel()
	e := refusal(t, newTransport(t, r), req)
	if !errors.Is(e, context.Canceled) || !isClosed(e.Released()) || r.Conns() != 0 {
		t.Errorf("error = %v, released %t, %d connections", e, isClosed(e.Released()), r.Conns())
	}
}

func TestBetweenBytesTimeout(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Stdout(textHead+"part"), fcgitest.Hang(nil))
	tr := newTransport(t, r, func(c *Config) { c.BetweenBytesTimeout = 50 * time.Millisecond })
	resp, err := tr.RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if e, ok := errors.AsType[*Error](err); !ok || !e.Timeout() || string(b) != "part" {
		t.Errorf("read %q, %v, want part and a timeout", b, err)
	}
}

func TestSlowReaderDoesNotHoldTheWorker(t *testing.T) {
	closed := make(chan struct{})
	page := strings.Repeat("x", 10_000)
	r := fcgitest.New(t, fcgitest.Reply(200, page), fcgitest.AwaitClose(), fcgitest.Call(func() { close(closed) }))
	resp, err := newTransport(t, r).RoundTrip(newRequest(t, "GET", ""))
	if err != nil {
		t.Fatal(err)
	}
	await(t, closed, "closing at END_REQUEST, with the body unread")
	if b, err := io.ReadAll(resp.Body); string(b) != page || err != nil {
		t.Errorf("read %d bytes, %v", len(b), err)
	}
}
