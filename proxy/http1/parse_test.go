package http1

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// refusals are heads that must not reach the handler, behind a good request line unless they begin with one.
var refusals = []struct {
	name, head string
	want       int
}{
	{"nothing", "\r\n\r\n\r\n\r\n\r\n\r\n", 400},
	{"one word", "GET\r\n\r\n", 400},
	{"no version", "GET /\r\n\r\n", 400},
	{"tab for a space", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"space behind the version", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
	{"version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n", 400},
	{"version of two digits", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", 400},
	{"version 3.0", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
	{"version of a letter", "GET / HTTP/1.x\r\nHost: x\r\n\r\n", 400},
	{"version 0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
	{"version 2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"method with a comma", "G,T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"control byte in the target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"half an escape", "GET /%4 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"CONNECT of a path", "CONNECT /a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"CONNECT of a URL", "CONNECT http://a/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"CONNECT of a host with a path", "CONNECT a:1/b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"asterisk for GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"URL of another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"URL without a host", "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"URL with a user", "GET http://x@a/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"URL without slashes", "GET http:a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"relative target", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},

	{"LF behind the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
	{"LF behind a field", "GET / HTTP/1.1\r\nHost: x\n\r\n", 400},
	{"LF for the empty line", "GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
	{"LF only", "GET / HTTP/1.0\n\n", 400},
	{"LF first", "\nGET / HTTP/1.0\r\n\r\n", 400},
	{"CR within a value", "Host: x\r\nX: a\rb\r\n\r\n", 400},
	{"CR before CRLF", "Host: x\r\nX: a\r\r\n\r\n", 400},
	{"NUL in a value", "Host: x\r\nX: a\x00b\r\n\r\n", 400},
	{"delete in a value", "Host: x\r\nX: a\x7fb\r\n\r\n", 400},
	{"folded line", "Host: x\r\nX: a\r\n b\r\n\r\n", 400},
	{"folded first field", " X: a\r\nHost: x\r\n\r\n", 400},
	{"space before the colon", "Host: x\r\nX : a\r\n\r\n", 400},
	{"no name", "Host: x\r\n: a\r\n\r\n", 400},
	{"no colon", "Host: x\r\nabc\r\n\r\n", 400},
	{"umlaut in a name", "Host: x\r\nX\xc3\xa4: a\r\n\r\n", 400},

	{"no host", "X: a\r\n\r\n", 400},
	{"two hosts", "Host: x\r\nhost: x\r\n\r\n", 400},
	{"space in the host", "Host: a b\r\n\r\n", 400},
	{"slash in the host", "Host: a/b\r\n\r\n", 400},
	{"at in the host", "Host: a@b\r\n\r\n", 400},
	{"port of a letter", "Host: a:b\r\n\r\n", 400},
	{"two ports", "Host: a:1:2\r\n\r\n", 400},
	{"port alone", "Host: :80\r\n\r\n", 400},
	{"host in brackets", "Host: [a]\r\n\r\n", 400},
	{"half a bracket", "Host: a]\r\n\r\n", 400},
	{"more behind a bracket", "Host: [::1]a\r\n\r\n", 400},
	{"two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400},
	{"host of the target", "GET http://a%C3%A4/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},

	{"length with a sign", "Host: x\r\nContent-Length: +1\r\n\r\n", 400},
	{"negative length", "Host: x\r\nContent-Length: -1\r\n\r\n", 400},
	{"empty length", "Host: x\r\nContent-Length:\r\n\r\n", 400},
	{"length beyond 63 bits", "Host: x\r\nContent-Length: 9223372036854775808\r\n\r\n", 400},
	{"length of 20 digits", "Host: x\r\nContent-Length: 00000000000000000001\r\n\r\n", 400},
	{"length in hexadecimal", "Host: x\r\nContent-Length: 0x1\r\n\r\n", 400},
	{"list of lengths", "Host: x\r\nContent-Length: 1, 1\r\n\r\n", 400},
	{"length repeated", "Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
	{"length and chunks", "Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{"chunks and length", "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
	{"chunks in HTTP/1.0", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{"chunks twice", "Host: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 501},
	{"chunks in two lines", "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
	{"unknown coding", "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
	{"identity", "Host: x\r\nTransfer-Encoding: identity\r\n\r\n", 501},
	{"empty coding", "Host: x\r\nTransfer-Encoding:\r\n\r\n", 501},
	{"chunks with a control byte", "Host: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n", 400},
	{"other expectation", "Host: x\r\nExpect: 200-ok\r\n\r\n", 417},

	{"large head", "Host: x\r\nX: " + strings.Repeat("x", 70000) + "\r\n\r\n", 431},
	{"large target", "GET /" + strings.Repeat("x", 70000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
	{"many fields", "Host: x\r\n" + strings.Repeat("X: y\r\n", 128) + "\r\n", 431},
}

func TestRefusals(t *testing.T) {
	f := serve(t, Limits{}, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the handler saw %v", r) })
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			head := c.head
			if first, _, _ := strings.Cut(head, "\n"); !strings.Contains(first, " HTTP/") && (c.want != 400 || strings.Contains(first, ":")) {
				head = "GET / HTTP/1.1\r\n" + head
			}
			nc := f.dial()
			f.send(nc, head)
			resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != c.want || !resp.Close {
				t.Errorf("status = %d, close %v; want %d", resp.StatusCode, resp.Close, c.want)
			}
		})
	}
}

func TestHostOfTheTargetGoesFirst(t *testing.T) {
	f := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Host+" "+r.RequestURI+" "+r.URL.Path)
	})
	answer := f.raw("GET http://a/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.HasSuffix(answer, "\r\n\r\na http://a/b /b") {
		t.Errorf("answer = %q", answer)
	}
}

// parseAll is what a connection does with bytes that are all there.
func parseAll(b []byte) (*message, *Error) {
	var s scan
	whole, err := s.find(b, 128)
	if err != nil || !whole {
		return nil, err
	}
	return parse(string(b[s.start:s.next]), s.ends)
}

// FuzzHead checks that what is taken here is taken by net/http as well, and is the same there: two parsers that agree are
// what a backend behind us is likely to agree with.
func FuzzHead(f *testing.F) {
	for _, c := range refusals {
		if len(c.head) < 1000 {
			f.Add([]byte(c.head))
			f.Add([]byte("GET /a?b HTTP/1.1\r\n" + c.head))
		}
	}
	f.Add([]byte("POST //a;b/%2e%2f?x=%20y?z HTTP/1.1\r\nhost: x:80\r\nX-a: 1\r\nx-A: \t2 \r\nContent-Length: 07\r\n\r\n"))
	f.Add([]byte("OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n"))
	f.Add([]byte("CONNECT a:1 HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: CHUNKED\r\nTrailer: X\r\n\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nTrailer: a\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, fault := parseAll(b)
		if fault != nil || m == nil {
			return
		}
		for strings.HasPrefix(string(b), "\r\n") {
			b = b[2:]
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(b))))
		if err != nil {
			t.Fatalf("net/http refuses it: %v", err)
		}
		if pragma := r.Header["Pragma"]; len(pragma) > 0 && pragma[0] == "no-cache" {
			return // net/http makes a Cache-Control of it
		}
		if m.method != r.Method || m.target != r.RequestURI || m.host != r.Host || m.length != r.ContentLength {
			t.Errorf("got %+v, net/http %+v", m, r)
		}
		delete(r.Header, "Trailer") // which it leaves there without chunks
		if !reflect.DeepEqual(m.header, r.Header) {
			t.Errorf("header %v, net/http %v", m.header, r.Header)
		}
		if m.minor == 1 && m.method != http.MethodConnect && m.close != r.Close {
			t.Errorf("close %v, net/http %v", m.close, r.Close)
		}
		if !reflect.DeepEqual(m.url, r.URL) {
			t.Errorf("url %#v, net/http %#v", m.url, r.URL)
		}
	})
}

// FuzzTarget checks the short way against the long one.
func FuzzTarget(f *testing.F) {
	for _, target := range []string{"/", "/a?", "//a//b?c?d#e", "/a;b,c:d@e&f=g+h$i~j_k.l-m", "/a#b", "/\xff", "/%41", "*", "http://a?b"} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if target == "" {
			return
		}
		got, err := parseTarget("GET", target)
		want, wantErr := url.ParseRequestURI(target)
		if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, %v; want %#v, %v", got, err, want, wantErr)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, name := range []string{"accept", "X-abC", "-", "a b", "", "Content-length", strings.Repeat("a-", 50)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, ok := canonical(name)
		if ok != (isTokenString(name)) || ok && got != textproto.CanonicalMIMEHeaderKey(name) {
			t.Errorf("canonical(%q) = %q, %v", name, got, ok)
		}
	})
}

// FuzzChunks checks that a body which is taken here is the same to net/http's reader, however it comes in pieces.
func FuzzChunks(f *testing.F) {
	for _, body := range []string{
		"0\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "1;a=b\r\nx\r\n00\r\nA: b\r\n\r\n", "A\r\n0123456789\r\n0\r\n\r\nGET", "1\r\nx0\r\n\r\n",
		"1 \r\nx\r\n0\r\n\r\n", "1\nx\n0\n\n", "0\r\nA b: c\r\n\r\n", "7fffffffffffffff\r\nx", "ffffffffffffffff\r\nx", "-1\r\nx\r\n0\r\n\r\n",
		"1\r\nx\r\n0\r\nA: b\n\r\n", "0x1\r\nx\r\n0\r\n\r\n", "1\r\rx\r\n0\r\n\r\n", strings.Repeat("1;"+strings.Repeat("x", 200)+"\r\nx\r\n", 100),
	} {
		f.Add(body, true)
		f.Add(body, false)
	}
	f.Fuzz(func(t *testing.T, body string, bytewise bool) {
		var source io.Reader = strings.NewReader(body)
		if bytewise {
			source = iotest.OneByteReader(source)
		}
		c := newConn(New(Config{}), readConn{Reader: source})
		b := c.newBody(&message{length: -1})
		got, err := io.ReadAll(readOnly{b})
		if err != nil {
			return
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(body)))
		if err != nil || string(got) != string(want) {
			t.Errorf("got %q, net/http %q, %v", got, want, err)
		}
	})
}

// readOnly reads without the watch that the end of a body arms.
type readOnly struct{ *body }

func (r readOnly) Read(p []byte) (int, error) { return r.read(p) }
