package http1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestShutdownEndsIdleConnectionsAndFinishesRequests(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			began <- struct{}{}
			<-goOn
		}
		hello(w, r)
	})
	idle, busy, fresh := f.dial(), f.dial(), f.dial()
	fromIdle := bufio.NewReader(idle)
	f.send(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	f.answer(fromIdle, "GET")
	f.send(busy, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-began
	ended := make(chan error, 1)
	go func() { ended <- f.Shutdown(context.Background()) }()
	if _, err := fromIdle.ReadByte(); err != io.EOF {
		t.Errorf("idle connection: %v, want the end", err)
	}
	// One that has just been made may have a request on its way.
	f.send(fresh, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, _ := f.answer(bufio.NewReader(fresh), "GET"); !resp.Close {
		t.Error("the fresh connection is to be kept")
	}
	select {
	case err := <-ended:
		t.Fatalf("shutdown ended with a request under way: %v", err)
	default:
	}
	close(goOn)
	if resp, body := f.answer(bufio.NewReader(busy), "GET"); !resp.Close || body != "hello" {
		t.Errorf("close %v, %q", resp.Close, body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestShutdownCutsOffWhatTakesTooLong(t *testing.T) {
	f := serve(t, Limits{}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	nc := f.dial()
	f.send(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for f.Shutdown(ctx) == nil { // until the connection has been accepted
	}
	if _, err := nc.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
}

// A stream of requests on kept connections sees no failure but the end of a connection between two of them.
func TestShutdownUnderLoadFailsNoRequestUnderWay(t *testing.T) {
	f := serve(t, Limits{}, hello)
	started, results := make(chan struct{}, 8), make(chan string, 8)
	for range 8 {
		nc := f.dial()
		go func() {
			from := bufio.NewReader(nc)
			for n := 0; ; n++ {
				if _, err := io.WriteString(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					results <- ""
					return
				}
				resp, err := http.ReadResponse(from, nil)
				if err != nil {
					results <- endOf(err)
					return
				}
				if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hello" {
					results <- "body " + string(body)
					return
				}
				if n == 10 {
					started <- struct{}{}
				}
				if resp.Close {
					results <- ""
					return
				}
			}
		}()
	}
	for range 8 {
		<-started
	}
	if err := f.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	for range 8 {
		if fault := <-results; fault != "" {
			t.Error(fault)
		}
	}
}

// endOf is empty for the end of a connection on which nothing of an answer has come.
func endOf(err error) string {
	if err == io.EOF || err == io.ErrUnexpectedEOF || strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "broken pipe") {
		return ""
	}
	return err.Error()
}

func TestServeWithoutConnectionsShutsDownAtOnce(t *testing.T) {
	if err := New(Config{Handler: http.NotFoundHandler()}).Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// What is no TCP socket has no waiter and works the same.
func TestServeOnAPipe(t *testing.T) {
	client, server := net.Pipe()
	ended := make(chan struct{})
	s := New(Config{Handler: http.HandlerFunc(hello)})
	go func() {
		defer close(ended)
		s.Serve(server)
	}()
	go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	answer, err := io.ReadAll(client)
	if err != nil || !strings.HasSuffix(string(answer), "hello") {
		t.Errorf("%q, %v", answer, err)
	}
	<-ended
}

// readConn is a connection of which only reading matters.
type readConn struct {
	net.Conn
	io.Reader
}

func (c readConn) Read(p []byte) (int, error) { return c.Reader.Read(p) }
func (readConn) RemoteAddr() net.Addr         { return new(net.TCPAddr) }
func (readConn) LocalAddr() net.Addr          { return new(net.TCPAddr) }
