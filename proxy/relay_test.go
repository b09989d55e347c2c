package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"gateway/upstream/spool"
)

// relayServer answers every request with what source gives, relayed.
func relayServer(t *testing.T, atOnce bool, source func() io.Reader) (url string, result <-chan error) {
	t.Helper()
	return relayServerContext(t, atOnce, 5*time.Second, func(context.Context) io.Reader { return source() })
}

func relayServerContext(t *testing.T, atOnce bool, writeTimeout time.Duration, source func(context.Context) io.Reader) (url string, result <-chan error) {
	t.Helper()
	results := make(chan error, 1)
	server := httptest.NewServer(pace(writeTimeout, 0)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		relay := newRelay(w, r, 200, testStorage("", 1<<30))
		defer relay.close()
		backendErr, clientErr := relay.copy(source(r.Context()), atOnce)
		results <- errors.Join(backendErr, clientErr)
		if backendErr != nil && relay.client.started {
			panic(http.ErrAbortHandler)
		}
		if backendErr != nil {
			w.WriteHeader(http.StatusBadGateway)
		}
	})))
	t.Cleanup(server.Close)
	return server.URL, results
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestRelaySendsAShortAnswerWithItsLength(t *testing.T) {
	url, result := relayServer(t, false, func() io.Reader { return strings.NewReader(strings.Repeat("x", 20000)) })
	resp := get(t, url)
	body, err := io.ReadAll(resp.Body)
	if err != nil || len(body) != 20000 || resp.ContentLength != 20000 {
		t.Errorf("%d bytes, Content-Length %d, %v; want 20000 of both", len(body), resp.ContentLength, err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestRelayPassesOnWhatThePauseFinds(t *testing.T) {
	in, out := io.Pipe()
	url, result := relayServer(t, false, func() io.Reader { return in })
	go out.Write([]byte("first\n"))
	resp := get(t, url) // the head comes with the first bytes, while the backend is silent
	reader := bufio.NewReader(resp.Body)
	for _, want := range []string{"first\n", "second\n", "third\n"} {
		if line, err := reader.ReadString('\n'); err != nil || line != want {
			t.Fatalf("line = %q, %v; want %q before the backend goes on", line, err, want)
		}
		switch want {
		case "first\n":
			out.Write([]byte("second\n"))
		case "second\n":
			out.Write([]byte("third\n"))
			out.Close()
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestRelayPassesEventsOnAtOnce(t *testing.T) {
	in, out := io.Pipe()
	url, _ := relayServer(t, true, func() io.Reader { return in })
	resp := get(t, url) // the head comes before any event
	go out.Write([]byte("data: 1\n\n"))
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Errorf("line = %q, %v", line, err)
	}
	out.Close()
}

func TestRelayReadsTheBackendToItsEndWhileTheClientWaits(t *testing.T) {
	const size = 64 << 20
	read := make(chan struct{})
	url, result := relayServer(t, false, func() io.Reader {
		return io.MultiReader(io.LimitReader(zeros{}, size), atEnd(func() { close(read) }))
	})
	resp := get(t, url)
	select {
	case <-read: // though the client has taken nothing yet
	case <-time.After(20 * time.Second):
		t.Fatal("the backend is still waiting for the client")
	}
	if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
		t.Errorf("%d bytes, %v; want %d", n, err, size)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestRelayBreaksOffWithTheBackend(t *testing.T) {
	in, out := io.Pipe()
	url, result := relayServer(t, true, func() io.Reader { return in })
	go func() {
		out.Write([]byte("half"))
		out.CloseWithError(io.ErrUnexpectedEOF)
	}()
	resp := get(t, url)
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q looks complete", body)
	}
	if err := <-result; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("err = %v, want an unexpected end", err)
	}
}

func TestRelaySendsNothingOfAnAnswerThatBreaksOffEarly(t *testing.T) {
	in, out := io.Pipe()
	url, _ := relayServer(t, false, func() io.Reader { return in })
	go func() {
		out.Write([]byte("half"))
		out.CloseWithError(io.ErrUnexpectedEOF)
	}()
	if resp := get(t, url); resp.StatusCode != http.StatusBadGateway {
		t.Errorf("status = %d, want 502", resp.StatusCode)
	}
}

// An answer without an end, to a client that has stopped reading: the backend is silent once the pipe of events
// is full, so only the end of the request's context can wake it.
func TestRelayGivesUpOnAClientThatStopsReading(t *testing.T) {
	url, result := relayServerContext(t, true, time.Second, func(ctx context.Context) io.Reader {
		return io.MultiReader(io.LimitReader(zeros{}, 24<<20), untilDone{ctx})
	})
	get(t, url)
	select {
	case err := <-result:
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want a write that was too slow and the end of the request", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("still waiting for the client")
	}
}

// TestMemoryIsNobodyElsesWhileItIsSent breaks the handler off in the middle of an answer.
func TestMemoryIsNobodyElsesWhileItIsSent(t *testing.T) {
	s := storage{budget: spool.NewBudget(1<<20, 1<<30, nil), dir: t.TempDir(), limit: 1 << 30}
	closed := make(chan spool.Usage, 1)
	server := httptest.NewServer(pace(5*time.Second, 0)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { closed <- s.budget.Usage() }()
		relay := newRelay(w, r, 200, s)
		defer relay.close()
		_, _ = relay.copy(io.MultiReader(io.LimitReader(zeros{}, 24<<20), atEnd(func() { panic(http.ErrAbortHandler) })), false)
	})))
	defer server.Close()
	get(t, server.URL)
	if u := <-closed; u.Memory == 0 {
		t.Error("the memory was given back while it was sent")
	}
	eventually(t, "all is given back", func() bool { u := s.budget.Usage(); return u.Memory == 0 && u.Disk == 0 })
}

// stuck is a client that takes nothing until it may.
type stuck struct {
	sink
	written chan struct{}
	may     <-chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.written <- struct{}{}:
	default:
	}
	<-s.may
	return s.sink.Write(p)
}

// On hundreds of streams of one connection the client need not take anything, not even of short answers.
func TestShortAnswersToStreamsCount(t *testing.T) {
	for name, c := range map[string]struct{ memory, held int64 }{
		"memory": {1 << 20, spool.PieceSize}, "no memory": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			may := make(chan struct{})
			w := &stuck{sink{http.Header{}}, make(chan struct{}, 1), may}
			s := storage{budget: spool.NewBudget(c.memory, 1<<30, nil), dir: t.TempDir(), limit: 1 << 30}
			done := make(chan error)
			go func() {
				relay := newRelay(w, &http.Request{ProtoMajor: 2}, 200, s)
				defer relay.close()
				_, err := relay.copy(strings.NewReader(strings.Repeat("x", 20000)), false)
				done <- err
			}()
			<-w.written
			if u := s.budget.Usage(); u.Memory != c.held {
				t.Errorf("%d bytes of memory are held, want %d", u.Memory, c.held)
			}
			close(may)
			if err := <-done; err != nil {
				t.Error(err)
			}
			eventually(t, "all is given back", func() bool { u := s.budget.Usage(); return u.Memory == 0 && u.Disk == 0 })
		})
	}
}

func TestFaultOfTheTempFileIsNotTheClients(t *testing.T) {
	may := make(chan struct{})
	w := &stuck{sink{http.Header{}}, make(chan struct{}, 1), may}
	s := storage{budget: spool.NewBudget(0, 1<<30, nil), dir: t.TempDir(), limit: 1 << 30}
	relay := newRelay(w, &http.Request{ProtoMajor: 1}, 200, s)
	defer relay.close()
	type result struct{ backendErr, clientErr error }
	done := make(chan result)
	go func() {
		var r result
		r.backendErr, r.clientErr = relay.copy(io.MultiReader(io.LimitReader(zeros{}, 1<<20), atEnd(func() {
			relay.backlog.file.Close()
			close(may)
		})), false)
		done <- r
	}()
	if r := <-done; !errors.Is(r.backendErr, errSpooled) || r.clientErr != nil {
		t.Errorf("the backend's error is %v, the client's %v; want the first alone", r.backendErr, r.clientErr)
	}
}

// untilDone blocks until its context ends.
type untilDone struct{ ctx context.Context }

func (u untilDone) Read([]byte) (int, error) { <-u.ctx.Done(); return 0, u.ctx.Err() }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// atEnd is an empty reader that says when it was reached.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }
