//go:build stack

package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// closed stands for a connection that is closed without an answer.
const closed = 0

// badInput is what no browser sends, and the status that it is answered with.
var badInput = []struct {
	name, bytes string
	want        int
}{
	{"no version", "GET /\r\n\r\n", 400},
	{"a word", "GET\r\n\r\n", 400},
	{"unknown version", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 505},
	{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
	{"NULs", strings.Repeat("\x00", 4096) + "\r\n\r\n", 400},
	{"line without a colon", "GET / HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n", 400},
	{"space before the colon", "GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n", 400},
	{"NUL in a value", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", 400},
	{"no name", "GET / HTTP/1.1\r\nHost: localhost\r\n: y\r\n\r\n", 400},
	{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
	{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
	{"space in the host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
	{"method with a control byte", "G\x01T / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},

	{"NUL in the path", "GET /a\x00b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"control byte in the path", "GET /a\x01b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"delete in the path", "GET /a\x7fb HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"space in the path", "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"escaped NUL", "GET /a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"escaped line end", "GET /index.php/a%0Ab HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"half an escape", "GET /a%4 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"path that climbs", "GET /../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
	{"path that climbs in escapes", "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
	{"no path", "GET localhost HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"authority", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n", 400},
	{"asterisk", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
	{"a stranger's URL", "GET http://elsewhere.test/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 421},
	{"path of 1 MiB", "GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431},

	{"length beyond 64 bits", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
	{"length of 8 EiB", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9223372036854775807\r\n\r\n", 413},
	{"negative length", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400},
	{"length with a sign", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello", 400},
	{"length in hexadecimal", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x5\r\n\r\nhello", 400},
	{"two lengths", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
	{"chunks twice", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501},
	{"unknown framing", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
	{"chunk of no number", chunks("zz\r\n"), 400},
	{"chunk beyond 64 bits", chunks("fffffffffffffffff\r\nx"), 400},
	{"chunk of 8 EiB that never come", chunks("7fffffffffffffff\r\nx\r\n0\r\n\r\n"), 408},
	{"chunk longer than it says", chunks("1\r\nxxxx\r\n0\r\n\r\n"), 400},
	{"chunk with a long extension", chunks("1;" + strings.Repeat("x", 1<<20) + "\r\nx\r\n0\r\n\r\n"), 400},

	{"10,000 lines", "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Header: value\r\n", 10000) + "\r\n", 431},
	{"line of 1 MiB", "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431},
	{"name of 1 MiB", "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("x", 1<<20) + ": y\r\n\r\n", 431},

	{"folded line", "GET / HTTP/1.1\r\nHost: localhost\r\nX: y\r\n z\r\n\r\n", 400},
	{"length and chunks", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"one length twice", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
	{"chunks in HTTP/1.0", "POST /api/echo HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"line that ends in LF", "GET / HTTP/1.1\nHost: localhost\r\n\r\n", 400},
	{"CR within a line", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n", 400},
	{"chunk line that ends in LF", chunks("1\nx\r\n0\r\n\r\n"), 400},

	{"nothing", "", closed},
	{"slow head", "GET / HTTP/1.1\r\nHost: loc", closed},
	{"slow body", "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf", 408},
	{"slow chunk", chunks("a\r\nhalf"), 408},
}

func chunks(body string) string {
	return "POST /api/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + body
}

func TestBadInputIsAnsweredAndTheNextClientServed(t *testing.T) {
	const impatient = "limits = { header_timeout = \"300ms\", body_timeout = \"300ms\" }\n"
	for name, upstream := range map[string]string{
		"fpm": fastcgiUpstream("app", fpmPool()), "resident": httpUpstream("app", resident()),
	} {
		p := startGateway(t, impatient+site(t)+upstream)
		v := visit(t, p)
		for _, c := range badInput {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				if got := p.answerTo(t, c.bytes); got != c.want {
					t.Errorf("status = %d, want %d", got, c.want)
				}
				v.prompt()
				p.alive(t)
			})
		}
	}
}

// answerTo sends bytes and returns the status of the first answer; it fails the test when nothing at all happens.
func (p *process) answerTo(t *testing.T, bytes string) int {
	t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	try(t, err)
	defer conn.Close()
	try(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	go io.WriteString(conn, bytes) // a server may well answer before it has read all
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.Error("neither an answer nor an end")
		fallthrough
	case err != nil:
		return closed
	}
	// A server that closes while more comes in resets the connection, which may overtake its answer.
	if _, err := io.Copy(io.Discard, resp.Body); err != nil && !isReset(err) {
		t.Errorf("the answer breaks off: %v", err)
	}
	return resp.StatusCode
}

// TestNoiseIsAnsweredOrRefused takes good requests and breaks them at random places, always the same.
func TestNoiseIsAnsweredOrRefused(t *testing.T) {
	p := startGateway(t, "limits = { header_timeout = \"200ms\", body_timeout = \"200ms\", idle_timeout = \"200ms\" }\n"+
		site(t)+fastcgiUpstream("app", fpmPool()))
	noise := rand.New(rand.NewPCG(1, 2))
	good := []string{
		"GET /hello.txt HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\nAccept-Encoding: br, gzip\r\n\r\n",
		"POST /nowhere/a.css HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nCookie: a=b; gateway_split=c\r\n\r\nhello",
		"GET /build/a.js?x=%20 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"x\"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	}
	var broken []string
	for range 400 {
		b := []byte(good[noise.IntN(len(good))])
		for range 1 + noise.IntN(4) {
			at := noise.IntN(len(b))
			switch noise.IntN(4) {
			case 0:
				b[at] = byte(noise.IntN(256))
			case 1:
				b = append(b[:at], b[at+1:]...)
			case 2:
				b = append(b[:at], append([]byte(strings.Repeat("%\x00\r\n:;\xff"[noise.IntN(7):][:1], 1+noise.IntN(9000))), b[at:]...)...)
			case 3:
				b = b[:at+1]
			}
		}
		broken = append(broken, string(b))
	}
	next := make(chan string)
	go func() {
		defer close(next)
		for _, b := range broken {
			next <- b
		}
	}()
	together(16, func(int) outcome {
		for b := range next {
			p.answerTo(t, b)
		}
		return outcome{}
	})
	visit(t, p).prompt()
	p.alive(t)
}

// TestPipelinedRequestsAreAnsweredInOrder, the slow one first.
func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	p := startGateway(t, site(t)+fastcgiUpstream("app", fpmPool()))
	w := dialWire(t, p)
	var all strings.Builder
	paths := []string{"/api/slow/200", "/hello.txt", "/api/ping", "/api/status/204", "/api/echo/last"}
	for _, path := range paths {
		fmt.Fprintf(&all, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	}
	w.send(all.String())
	for i, want := range []string{`{"slept":200}`, "hello, static\n", `{"pong":true}`, "", `{"method":"GET"`} {
		resp := w.head()
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.HasPrefix(string(body), want) {
			t.Errorf("the answer to %s is %.40q, %v; want %s", paths[i], body, err, want)
		}
	}
}

// TestNothingAfterConnectionCloseIsARequest: what comes after it could be somebody else's.
func TestNothingAfterConnectionCloseIsARequest(t *testing.T) {
	p := startGateway(t, site(t)+fastcgiUpstream("app", fpmPool()))
	w := dialWire(t, p)
	w.send("GET /api/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\nGET /api/ping?smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
	all, err := io.ReadAll(w.in)
	if err != nil && !isReset(err) {
		t.Error(err)
	}
	if n := strings.Count(string(all), "HTTP/1.1 "); n != 1 {
		t.Errorf("%d answers, want one: %q", n, all)
	}
	visit(t, p).ok("/api/ping?next")
	p.access(t, "/api/ping?next", 1)
	if n := len(p.entries(t, func(e entry) bool { return strings.Contains(e.URI, "smuggled") })); n != 0 {
		t.Error("the second request was carried out")
	}
}

// TestHalfClosedClientIsAnswered: it has said all it has to say, and listens.
func TestHalfClosedClientIsAnswered(t *testing.T) {
	p := startGateway(t, site(t)+fastcgiUpstream("app", fpmPool()))
	w := dialWire(t, p)
	w.ask("/hello.txt")
	try(t, w.Conn.(*net.TCPConn).CloseWrite())
	if resp := w.head(); resp.StatusCode != http.StatusOK {
		t.Errorf("status = %d, want 200", resp.StatusCode)
	}
}
