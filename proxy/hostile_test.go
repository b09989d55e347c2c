package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gateway/fastcgi/fcgitest"
)

// A client that speaks of an upgrade must not escape the limits of a body thereby.
func TestUpgradeDoesNotLiftTheLimitsOfABody(t *testing.T) {
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
	defer octane.Close()
	limits := "limits = { body = \"1000B\", body_timeout = \"150ms\" }\napp ="
	for name, site := range map[string]string{
		"fpm":    fpmSite(fcgitest.New(t, fcgitest.Reply(200, "ok")), ""),
		"octane": octaneSite(octane.Listener.Addr().String(), "max_in_flight = 1"),
	} {
		f := serve(t, strings.Replace(site, "app =", limits, 1))
		for _, upgrade := range []string{"websocket", ""} {
			head := "POST / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: " + upgrade + "\r\n"
			large := f.raw(head + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + strings.Repeat("x", 2000) + "\r\n0\r\n\r\n")
			if !strings.HasPrefix(large, "HTTP/1.1 413 ") {
				t.Errorf("%s, Upgrade %q: %q, want 413 for a large body", name, upgrade, large)
			}
			slow := f.raw(head + "Content-Length: 10\r\n\r\nhalf")
			if !strings.HasPrefix(slow, "HTTP/1.1 408 ") {
				t.Errorf("%s, Upgrade %q: %q, want 408 for a slow body", name, upgrade, slow)
			}
		}
	}
}

// A backend that changed to cleartext HTTP/2 would take every further request unseen by us, with whatever headers.
func TestUpgradeToHTTP2IsNotPassedOn(t *testing.T) {
	seen := make(chan http.Header, 1)
	octane := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	defer octane.Close()
	f := serve(t, octaneSite(octane.Listener.Addr().String(), ""))
	for _, upgrade := range []string{"h2c", "websocket, H2C"} {
		answer := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: " + upgrade + "\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
		if h := <-seen; h["Upgrade"] != nil || h["Http2-Settings"] != nil || !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Errorf("Upgrade %q: the backend saw %v, the client %q", upgrade, h, answer)
		}
	}
}

// Where nobody wants the body, the answer does not wait for it, and the connection not for ever.
func TestBodyThatNobodyReadsHoldsNoConnection(t *testing.T) {
	f := serve(t, "limits = { body_timeout = \"150ms\" }\n"+fpmSite(fcgitest.New(t, fcgitest.Reply(200, "ok")), ""))
	write(t, f.public+"/robots.txt", "all\n")
	for _, path := range []string{"/robots.txt", "/.env", "/a%00"} {
		conn := f.dial()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", path)
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
			t.Errorf("%s: %q, %v; want an answer and the end", path, answer, err)
		}
	}
}

func TestAmbiguousRequestsAreRefused(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, fpmSite(responder, ""))
	for _, head := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\nAuthorization: Basic Yzpk\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 1\r\n",
		// An address without an authority, of which the path is in the query.
		"GET a:b?http://x/.env HTTP/1.1\r\nHost: x\r\n",
	} {
		if answer := f.raw(head + "Connection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
			t.Errorf("%q: %q, want 400", head, answer)
		}
	}
	if requests := responder.Requests(); len(requests) > 0 {
		t.Errorf("the script saw %v", requests)
	}
}

// HTTP/1.0 knows no interim answers: its client would take one for the answer.
func TestHintsAreNotForHTTP10(t *testing.T) {
	backend := rawBackend(t, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	f := serve(t, octaneSite(backend, ""))
	if answer := f.raw("GET / HTTP/1.0\r\nHost: x\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.0 200 ") {
		t.Errorf("answer = %q, want 200 at once", answer)
	}
}

// rawBackend answers each connection's first request with answer, whatever that is, and closes it.
func rawBackend(t *testing.T, answer string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 64<<10)
				for head := ""; !strings.Contains(head, "\r\n\r\n"); {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					head += string(buf[:n])
				}
				io.WriteString(conn, answer)
			}()
		}
	}()
	return l.Addr().String()
}
