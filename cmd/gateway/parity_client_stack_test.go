//go:build stack

package main_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// exchangeWithin bounds one exchange; the largest takes a second on a quiet machine.
const exchangeWithin = 90 * time.Second

// client is a browser without manners on one way to the application: every request is sent as the bytes that are
// written here, over a connection of its own.
type client struct {
	t       *testing.T
	addr    string
	resumed bool                 // backends of this way have connections of their own from the front
	variant string               // of a split, which the requests ask for
	cookies map[string]string    // kept and sent as a browser does
	asked   func(request string) // told METHOD TARGET of each request with a well-formed head
}

// get, head and the like send a request with a Host, the client's cookies and the header lines given.
func (c *client) get(target string, lines ...string) answer {
	c.t.Helper()
	return c.do("GET", target, nil, lines...)
}

// do sends a request; a body that is not nil comes with its Content-Length.
func (c *client) do(method, target string, body []byte, lines ...string) answer {
	c.t.Helper()
	if body != nil {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	return c.raw(c.head(method, target, lines...) + string(body))
}

// chunked sends a request whose body comes in chunks of the given pieces.
func (c *client) chunked(method, target string, pieces []string, lines ...string) answer {
	c.t.Helper()
	var b strings.Builder
	b.WriteString(c.head(method, target, append(lines, "Transfer-Encoding: chunked")...))
	for _, piece := range pieces {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(piece), piece)
	}
	b.WriteString("0\r\n\r\n")
	return c.raw(b.String())
}

func (c *client) head(method, target string, lines ...string) string {
	c.asked(method + " " + target)
	lines = append([]string{method + " " + target + " HTTP/1.1", "Host: localhost"}, lines...)
	if c.variant != "" {
		lines = append(lines, "X-Gateway-Variant: "+c.variant)
	}
	if cookie := c.cookie(); cookie != "" {
		lines = append(lines, "Cookie: "+cookie)
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func (c *client) cookie() string {
	var pairs []string
	for _, name := range sorted(c.cookies) {
		pairs = append(pairs, name+"="+c.cookies[name])
	}
	return strings.Join(pairs, "; ")
}

// raw sends bytes as they are and reads the answer to its end. Then it finds out whether the connection is good for
// another request, which also shows bytes that did not belong to the answer.
func (c *client) raw(request string) answer {
	c.t.Helper()
	link := c.dial()
	defer link.close()
	link.send(request)
	a := c.read(link, strings.HasPrefix(request, "HEAD "))
	a.kept = link.reuse()
	return c.settle(a, link)
}

// expecting sends the head alone, and the body once the server has asked for it.
func (c *client) expecting(method, target, body string, lines ...string) answer {
	c.t.Helper()
	link := c.dial()
	defer link.close()
	lines = append(lines, "Expect: 100-continue", fmt.Sprintf("Content-Length: %d", len(body)))
	link.send(c.head(method, target, lines...))
	if b, err := link.in.Peek(len("HTTP/1.1 100")); err == nil && string(b) == "HTTP/1.1 100" {
		link.send(body)
	}
	a := c.read(link, false)
	a.kept = link.reuse()
	return c.settle(a, link)
}

// leaving reads only the first bytes of an answer's body and hangs up.
func (c *client) leaving(target string, bytes int) answer {
	c.t.Helper()
	link := c.dial()
	defer link.close()
	link.send(c.head("GET", target))
	a := answer{most: bytes}
	a.read(link.in, false)
	return c.settle(a, link)
}

func (c *client) read(link *link, head bool) answer {
	var a answer
	a.read(link.in, head)
	return a
}

// settle takes the cookies out of an answer, and what differs by chance.
func (c *client) settle(a answer, link *link) answer {
	for _, line := range a.header["set-cookie"] {
		name, rest, _ := strings.Cut(line, "=")
		value, _, _ := strings.Cut(rest, ";")
		c.cookies[name] = value
	}
	a.token = findToken(a.body)
	quieten(&a, c.addr, link.conn.LocalAddr().String(), c.resumed)
	return a
}

// link is one connection.
type link struct {
	t       *testing.T
	conn    net.Conn
	in      *bufio.Reader
	writers []chan error
}

func (c *client) dial() *link {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		c.t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(exchangeWithin))
	return &link{t: c.t, conn: conn, in: bufio.NewReader(conn)}
}

// send writes beside what is read, since a server may answer before it has read all.
func (l *link) send(bytes string) {
	done := make(chan error, 1)
	l.writers = append(l.writers, done)
	go func() {
		_, err := l.conn.Write([]byte(bytes))
		done <- err
	}()
}

// reuse says whether the connection carries another exchange: "kept", "closed", or what came instead.
func (l *link) reuse() string {
	for _, done := range l.writers {
		if err := <-done; err != nil {
			return "closed"
		}
	}
	l.writers = nil
	l.send("GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
	var next answer
	next.read(l.in, false)
	switch {
	case next.status == 200 && string(next.body) == "hello, static\n":
		return "kept"
	case next.status == 0 && next.line == "":
		return "closed"
	}
	return fmt.Sprintf("out of step: %.80q %.80q", next.line, next.body)
}

func (l *link) close() {
	l.conn.Close()
	for _, done := range l.writers {
		<-done
	}
}
