package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// overTLS makes of a site for all hosts one with a certificate, at an https address that f.addr stands for.
func overTLS(text string) string {
	return "listen = [\"https://@ADDR@\"]\ntls = { issuer = \"internal\" }\n" + strings.Replace(text, `"*"`, `"shop.test"`, 1)
}

func clientTLS(protocols ...string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, ServerName: "shop.test", NextProtos: protocols}
}

// clientHTTP2 returns a client that speaks HTTP/2 to https, and to http where that is an h2c.
func (f *fixture) clientHTTP2() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{TLSClientConfig: clientTLS(), Protocols: protocols}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// ask sends a request for shop.test over https and returns the answer with its body read.
func (f *fixture) ask(client *http.Client, method, path string, body io.Reader) (*http.Response, string) {
	f.t.Helper()
	r, err := http.NewRequest(method, "https://"+f.addr+path, body)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Host = "shop.test"
	resp, err := client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(all)
}

// frames is a client of HTTP/2 that sends what it likes.
type frames struct {
	*http2.Framer
	conn net.Conn
	head bytes.Buffer
	t    testing.TB
}

// frames connects over TLS. Both sides have sent their settings then.
func (f *fixture) frames() *frames {
	f.t.Helper()
	conn := tls.Client(f.dial(), clientTLS("h2"))
	f.t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		f.t.Fatal(err)
	}
	c := &frames{Framer: http2.NewFramer(conn, conn), conn: conn, t: f.t}
	c.must(c.WriteSettings())
	c.must(c.WriteSettingsAck())
	return c
}

func (c *frames) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// block returns the head of a GET of path, and more fields as name, value.
func (c *frames) block(path string, more ...string) []byte {
	c.head.Reset()
	encoder := hpack.NewEncoder(&c.head)
	fields := append([]string{":method", "GET", ":scheme", "https", ":authority", "shop.test", ":path", path}, more...)
	for i := 0; i < len(fields); i += 2 {
		c.must(encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true}))
	}
	return c.head.Bytes()
}

// get asks for path on a stream.
func (c *frames) get(stream uint32, path string) error {
	return c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: c.block(path), EndStream: true, EndHeaders: true,
	})
}

// drain reads until the connection ends, and returns how that came about. It discards all frames but the last one.
func (c *frames) drain() (last http2.Frame, err error) {
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			return last, err
		}
		last = frame
	}
}

// tlsClient has shaken hands for HTTP/2, and said nothing.
func tlsClient(f *fixture) *tls.Conn {
	f.t.Helper()
	conn := tls.Client(f.dial(), clientTLS("h2"))
	if err := conn.Handshake(); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// reuses says whether client's next request goes over the connection that it has.
func (f *fixture) reuses(client *http.Client) (reused bool) {
	f.t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(f.t.Context(), trace), "GET", "https://"+f.addr+"/", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Host = "shop.test"
	resp, err := client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	resp.Body.Close()
	return reused
}
