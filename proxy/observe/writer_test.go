package observe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestInformationalStatusIsPassedOnAndNotRecorded(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</app.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	})
	hints := 0
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { hints++; return nil },
	})
	req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if hints != 2 || resp.StatusCode != http.StatusTeapot {
		t.Errorf("%d hints, status %d; want 2 and 418", hints, resp.StatusCode)
	}
	wantFields(t, logs.nextJSON(t), map[string]any{"status": 418.0})
}

func TestSecondWriteHeaderIsIgnored(t *testing.T) {
	rec := httptest.NewRecorder()
	w := &responseWriter{ResponseWriter: rec}
	w.WriteHeader(http.StatusAccepted)
	w.WriteHeader(http.StatusInternalServerError)
	if w.status != http.StatusAccepted || rec.Code != http.StatusAccepted {
		t.Errorf("recorded %d, sent %d; want 202", w.status, rec.Code)
	}
}

func TestHandlerThatWritesNothingIs200(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(http.ResponseWriter, *http.Request) {})
	get(t, srv.URL)
	wantFields(t, logs.nextJSON(t), map[string]any{"status": 200.0, "bytes_out": 0.0})
}

func TestHeadCountsNoBody(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "not sent")
	})
	resp, err := http.Head(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	wantFields(t, logs.nextJSON(t), map[string]any{"status": 200.0, "bytes_out": 0.0})
}

func TestFlushReachesTheClientBeforeTheEnd(t *testing.T) {
	release := make(chan struct{})
	srv, _, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		<-release
	})
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer close(release)
	got := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "first" {
		t.Errorf("read %q, %v; want first, while the handler still runs", got, err)
	}
}

func TestTunnelIs101WithTheBytesToldOnceItHasEnded(t *testing.T) {
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		end := Tunnel(r.Context())
		go func() {
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
			ping, _ := rw.ReadString('\n')
			n, _ := io.WriteString(conn, "pong\n")
			end(int64(len(ping)), int64(n))
		}()
	})
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nping\n")
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasSuffix(string(answer), "pong\n") {
		t.Errorf("answer %q, %v", answer, err)
	}
	wantFields(t, logs.nextJSON(t), map[string]any{"status": 101.0, "bytes_in": 5.0, "bytes_out": 5.0})
}

func TestTunnelOfAHandlerThatPanickedHasOneLine(t *testing.T) {
	ended := make(chan struct{})
	srv, _, logs := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/next" {
			return
		}
		end := Tunnel(r.Context())
		go func() {
			defer close(ended)
			end(1, 1)
		}()
		panic(http.ErrAbortHandler)
	})
	if resp, err := http.Get(srv.URL); err == nil {
		resp.Body.Close()
		t.Error("an answer, want a broken connection")
	}
	wantFields(t, logs.nextJSON(t), map[string]any{"uri": "/", "aborted": true})
	<-ended
	get(t, srv.URL+"/next")
	wantFields(t, logs.nextJSON(t), map[string]any{"uri": "/next"})
}

func TestTunnelWithoutAnObserverEnds(t *testing.T) {
	Tunnel(t.Context())(1, 1)
}

func TestResponseControllerReachesDeadlines(t *testing.T) {
	failed := make(chan error, 1)
	srv, _, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		failed <- http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Hour))
	})
	get(t, srv.URL)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// readerFromSpy stands for net/http's writer, whose ReadFrom sends files by sendfile.
type readerFromSpy struct {
	http.ResponseWriter
	source io.Reader
}

func (s *readerFromSpy) ReadFrom(src io.Reader) (int64, error) {
	s.source = src
	return io.Copy(s.ResponseWriter, src)
}

func TestFileIsHandedDownAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logo.svg")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	spy := &readerFromSpy{ResponseWriter: httptest.NewRecorder()}
	w := &responseWriter{ResponseWriter: spy}
	// io.CopyN is what http.ServeContent does.
	if _, err := io.CopyN(w, file, 100_000); err != nil {
		t.Fatal(err)
	}
	limited, ok := spy.source.(*io.LimitedReader)
	if !ok || limited.R != io.Reader(file) {
		t.Errorf("source = %T, want the limited file itself", spy.source)
	}
	if w.written != 100_000 || w.status != http.StatusOK {
		t.Errorf("written %d, status %d", w.written, w.status)
	}
}

func TestReadFromWithoutOneBelowStillCopies(t *testing.T) {
	rec := httptest.NewRecorder()
	w := &responseWriter{ResponseWriter: struct{ http.ResponseWriter }{rec}}
	n, err := io.Copy(w, io.MultiReader(strings.NewReader("abc"), strings.NewReader("def")))
	if n != 6 || err != nil || rec.Body.String() != "abcdef" || w.written != 6 {
		t.Errorf("copied %d, %v, %q, counted %d", n, err, rec.Body, w.written)
	}
}

func TestHijackOfAWriterThatCannotIsAnError(t *testing.T) {
	w := &responseWriter{ResponseWriter: httptest.NewRecorder()}
	if _, _, err := w.Hijack(); !errors.Is(err, http.ErrNotSupported) || w.status != 0 {
		t.Errorf("err = %v, status = %d; want not supported and none", err, w.status)
	}
}
