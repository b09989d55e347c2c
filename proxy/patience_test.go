package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

// dripping is a body of n bytes that come one by one.
type dripping struct{ n int }

func (d *dripping) Read(p []byte) (int, error) {
	if d.n == 0 {
		return 0, io.EOF
	}
	d.n--
	elapse(30 * time.Millisecond)
	return copy(p, "x"), nil
}

// TestBodyThatComesByteByByteIsGivenUp: each byte would be in time for the next, for ever.
func TestBodyThatComesByteByByteIsGivenUp(t *testing.T) {
	const timeout = 300 * time.Millisecond
	for _, c := range []struct {
		name string
		rate int64
		want error
	}{{"any rate is enough", 0, nil}, {"a rate", 10, nil}, {"a rate it does not reach", 1000, errBodySlow}} {
		t.Run(c.name, func(t *testing.T) {
			overHTTP(t, func(t *testing.T, major int) {
				result := make(chan error, 1)
				server, client := pacedServer(t, major, time.Minute, 0, func(w http.ResponseWriter, r *http.Request) {
					limitBody(1<<20, timeout, c.rate)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						_, err := io.Copy(io.Discard, r.Body)
						result <- err
					})).ServeHTTP(w, r)
				})
				r, err := http.NewRequest("POST", server.URL, &dripping{30})
				if err != nil {
					t.Fatal(err)
				}
				if resp, err := client.Do(r); err == nil { // else the answer came before the body's end
					resp.Body.Close()
				}
				if err := <-result; !errors.Is(err, c.want) {
					t.Errorf("err = %v, want %v", err, c.want)
				}
			})
		})
	}
}

func TestDrippingBodyIs408AndTakesNoWorker(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "limits = { body_timeout = \"300ms\", body_min_rate = \"1000B\" }\n"+fpmSite(responder, ""))
	conn := f.dial()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
	go func() { _, _ = io.Copy(conn, &dripping{1000}) }() // ends with the connection
	head := make([]byte, len("HTTP/1.1 408"))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 408" {
		t.Errorf("answer = %q, %v; want 408", head, err)
	}
	if n := len(responder.Requests()); n != 0 {
		t.Errorf("%d requests reached the responder", n)
	}
}

func TestSteadyBodyMayPauseForTheWholeTime(t *testing.T) {
	const timeout = 400 * time.Millisecond
	overHTTP(t, func(t *testing.T, major int) {
		result := make(chan error, 1)
		server, client := pacedServer(t, major, time.Minute, 0, func(w http.ResponseWriter, r *http.Request) {
			limitBody(1<<20, timeout, 1000)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				result <- err
			})).ServeHTTP(w, r)
		})
		in, out := io.Pipe()
		go func() {
			for range 4 {
				io.WriteString(out, strings.Repeat("x", 1000))
				elapse(timeout / 2)
			}
			out.Close()
		}()
		resp, err := client.Post(server.URL, "text/plain", in)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// TestAnswerThatIsTakenBitByBitIsGivenUp: each piece is taken in time.
func TestAnswerThatIsTakenBitByBitIsGivenUp(t *testing.T) {
	const timeout = 500 * time.Millisecond
	for _, c := range []struct {
		name string
		rate int64
		most time.Duration // until the end of the test, or until the client should be given up
	}{{"any rate is enough", 0, 3 * timeout}, {"a rate it does not reach", 64 << 20, 20 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			overHTTP(t, func(t *testing.T, major int) {
				result := make(chan error, 1)
				server, client := pacedServer(t, major, timeout, c.rate, func(w http.ResponseWriter, r *http.Request) {
					var err error
					for piece := make([]byte, 32<<10); err == nil && r.Context().Err() == nil; {
						_, err = w.Write(piece)
					}
					result <- err
				})
				client.Transport.(*http.Transport).DialContext = narrow
				resp, err := client.Get(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				// So slowly that most of the time is spent in waiting, and for longer than the time for one write.
				taken := 0
				for begun := time.Now(); err == nil && time.Since(begun) < c.most; taken++ {
					_, err = io.CopyN(io.Discard, resp.Body, 32<<10)
					elapse(5 * time.Millisecond)
				}
				resp.Body.Close()
				if wrote := <-result; (c.rate > 0) != (err != nil) {
					t.Errorf("after %d pieces the client has %v, the server %v", taken, err, wrote)
				}
			})
		})
	}
}

func TestPatienceIsSpentByWaitingAlone(t *testing.T) {
	p := patience{full: time.Minute, rate: 240}
	p.restore()
	p.spend(time.Now().Add(-40*time.Second), 14399)
	if p.left < 19*time.Second || p.left > 20*time.Second {
		t.Errorf("%s are left of a minute after 40 s", p.left)
	}
	if p.spend(time.Now().Add(-time.Hour), 1); p.left != time.Minute || p.got != 0 {
		t.Errorf("%s are left after as much as was wanted, and %d bytes count already", p.left, p.got)
	}
}
