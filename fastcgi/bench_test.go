package fastcgi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gateway/fastcgi/fcgitest"
	"github.com/yookoala/gofast"
)

// responderEnv names the socket that a copy of the test program serves, so that a benchmark counts its own side only.
const responderEnv = "FASTCGI_BENCH_SOCKET"

func TestMain(m *testing.M) {
	if address := os.Getenv(responderEnv); address != "" {
		serveBench(address)
		return
	}
	os.Exit(m.Run())
}

// serveBench answers every request at once with the number of bytes that its QUERY_STRING asks for.
func serveBench(address string) {
	l, err := net.Listen("unix", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	answers := map[string][]byte{}
	for _, n := range []int{100, 2 << 10, 1 << 20} {
		answers[fmt.Sprint(n)] = benchAnswer(n)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go answerBench(c, answers)
	}
}

func benchAnswer(n int) []byte {
	page := textHead + strings.Repeat("x", n)
	var b []byte
	for len(page) > 0 {
		size := min(len(page), 32<<10)
		b = fcgitest.Record{Type: typeStdout, ID: 1, Content: []byte(page[:size]), Padding: byte(-size & 7)}.Append(b)
		page = page[size:]
	}
	return fcgitest.Record{Type: typeEnd, ID: 1, Content: make([]byte, 8)}.Append(b)
}

func answerBench(c net.Conn, answers map[string][]byte) {
	defer c.Close()
	buf := make([]byte, 128<<10)
	n, keep, answer := 0, false, []byte(nil)
	for {
		m, err := c.Read(buf[n:])
		if err != nil {
			return
		}
		n += m
		at := 0
		for at+headerSize <= n {
			h := parseHeader(buf[at:])
			end := at + headerSize + h.size + h.padding
			if end > n {
				break
			}
			content := buf[at+headerSize : end-h.padding]
			switch {
			case h.typ == typeBegin:
				keep = content[2] == 1
			case h.typ == typeParams && len(content) > 0:
				for size, a := range answers {
					if bytes.Contains(content, []byte("QUERY_STRING"+size)) {
						answer = a
					}
				}
			case h.typ == typeStdin && len(content) == 0:
				c.Write(answer)
				if !keep {
					return
				}
			}
			at = end
		}
		n = copy(buf, buf[at:n])
	}
}

// startBench returns the socket of a responder in a process of its own.
func startBench(b *testing.B) string {
	b.Helper()
	address := filepath.Join(shortDir(b), "s")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), responderEnv+"="+address)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	if _, err := io.ReadFull(stdout, make([]byte, 6)); err != nil {
		b.Fatal(err)
	}
	return address
}

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fcgi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// browserHeader is what a browser sends with a page.
var browserHeader = http.Header{
	"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
	"Accept-Encoding":           {"gzip, deflate, br, zstd"},
	"Accept-Language":           {"en-GB,en;q=0.9"},
	"Cache-Control":             {"max-age=0"},
	"Cookie":                    {"XSRF-TOKEN=" + strings.Repeat("a", 340) + "; laravel_session=" + strings.Repeat("b", 340)},
	"Referer":                   {"https://shop.example/"},
	"Sec-Fetch-Dest":            {"document"},
	"Sec-Fetch-Mode":            {"navigate"},
	"Sec-Fetch-Site":            {"same-origin"},
	"Upgrade-Insecure-Requests": {"1"},
	"User-Agent":                {"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
	"Priority":                  {"u=0, i"},
}

func BenchmarkTransport(b *testing.B) {
	address := startBench(b)
	for _, c := range []struct {
		name                  string
		maxIdle, answer, sent int
	}{
		{"kept/body=100B", 1, 100, 0}, {"kept/body=2KiB", 1, 2 << 10, 0}, {"kept/body=1MiB", 1, 1 << 20, 0},
		{"kept/upload=2KiB", 1, 100, 2 << 10}, {"kept/upload=1MiB", 1, 100, 1 << 20},
		{"fresh/body=100B", 0, 100, 0}, {"fresh/body=2KiB", 0, 2 << 10, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			tr, err := New(Config{Network: "unix", Address: address, MaxIdle: c.maxIdle})
			if err != nil {
				b.Fatal(err)
			}
			defer tr.Close()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			body := bytes.NewReader(make([]byte, c.sent))
			b.ReportAllocs()
			for b.Loop() {
				body.Seek(0, io.SeekStart)
				benchOnce(b, tr, benchRequest(ctx, c.answer, body), c.answer)
			}
		})
	}
}

// benchRequest makes what a server has at hand anyway, and so adds its own allocations: about 5.
func benchRequest(ctx context.Context, answer int, body *bytes.Reader) *http.Request {
	env := newEnv()
	env.RequestURI = fmt.Sprint("/?", answer)
	r := &http.Request{Method: "GET", Proto: "HTTP/1.1", Host: "shop.example", Header: browserHeader, ContentLength: body.Size()}
	r.URL, r.Body = benchURL, io.NopCloser(body)
	return r.WithContext(WithEnv(ctx, env))
}

var benchURL = httptest.NewRequest("GET", "/", nil).URL

func benchOnce(b *testing.B, tr *Transport, r *http.Request, want int) {
	resp, err := tr.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || n != int64(want) {
		b.Fatalf("%d bytes, %v, want %d", n, err, want)
	}
	resp.Body.Close()
}

// BenchmarkGofast is what the same requests cost with gofast's own client.
func BenchmarkGofast(b *testing.B) {
	address := startBench(b)
	h := gofast.NewHandler(
		gofast.Chain(gofast.BasicParamsMap, gofast.MapHeader, gofast.MapEndpoint("/srv/shop/public/index.php"))(gofast.BasicSession),
		gofast.SimpleClientFactory(gofast.SimpleConnFactory("unix", address)))
	for _, n := range []int{100, 2 << 10} {
		b.Run(fmt.Sprintf("fresh/body=%dB", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("GET", fmt.Sprint("/?", n), nil)
				r.Header = browserHeader
				h.ServeHTTP(discarder{http.Header{}}, r)
			}
		})
	}
}

type discarder struct{ header http.Header }

func (d discarder) Header() http.Header         { return d.header }
func (d discarder) WriteHeader(int)             {}
func (d discarder) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkParams makes and encodes the params of a browser's request, and sends them nowhere.
func BenchmarkParams(b *testing.B) {
	r := benchRequest(context.Background(), 100, bytes.NewReader(nil))
	c := &call{req: r, env: envFrom(r.Context())}
	for name, mapped := range map[string]bool{"list": false, "middleware": true} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			s := newSession(nil)
			s.mapped = mapped
			s.handle = func(_ gofast.Client, req *gofast.Request) (*gofast.ResponsePipe, error) {
				var err error
				buf, err = appendParams(buf[:0], c.params.final(req, mapped, c.env.Params))
				return nil, err
			}
			b.ReportAllocs()
			for b.Loop() {
				s.run(c)
			}
		})
	}
}

// BenchmarkHead parses what a page of Laravel with a session begins with.
func BenchmarkHead(b *testing.B) {
	cookie := "Set-Cookie: laravel_session=" + strings.Repeat("eyJpdiI6I", 32) + "; expires=Tue, 01 Dec 2026 06:00:00 GMT; Max-Age=7200; path=/; httponly\r\n"
	block := "X-Powered-By: PHP/8.2.36\r\nCache-Control: no-cache, private\r\nDate: Tue, 01 Dec 2026 04:00:00 GMT\r\n" +
		"Content-Type: text/html; charset=UTF-8\r\n" + cookie + cookie + "\r\n"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseHead(block); err != nil {
			b.Fatal(err)
		}
	}
}
