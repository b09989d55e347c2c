package observe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type discardResponse struct{ header http.Header }

func (d discardResponse) Header() http.Header         { return d.header }
func (d discardResponse) Write(p []byte) (int, error) { return len(p), nil }
func (d discardResponse) WriteHeader(int)             {}

// BenchmarkWrap is what one proxied request pays: record, request id, writer, metrics and access line.
func BenchmarkWrap(b *testing.B) {
	encoder, err := newEncoder("json")
	if err != nil {
		b.Fatal(err)
	}
	buffer := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(io.Discard), Size: bufferSize}
	b.Cleanup(func() { buffer.Stop() })
	cases := []struct {
		name string
		log  *zap.Logger
	}{
		{"log=json", zap.New(zapcore.NewCore(encoder, buffer, zapcore.InfoLevel))},
		{"log=off", zap.NewNop()},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) { benchmarkWrap(b, c.log) })
	}
}

func benchmarkWrap(b *testing.B, log *zap.Logger) {
	page := []byte("hello")
	h := newObserver(b, Config{Log: log}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := FromContext(r.Context())
		rec.Site, rec.Variant, rec.Upstream, rec.Backend = "shop.example", "fpm", "fpm", "unix:/run/php/fpm.sock"
		rec.Attempts, rec.Queue, rec.Dial, rec.FirstByte, rec.Body = 1, 1e3, 45e3, 2345e3, 120e3
		w.Write(page)
	}))
	r := browserRequest()
	w := discardResponse{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}

// browserRequest is what a browser sends to a Laravel application: ten header lines, 600 bytes of them cookies.
func browserRequest() *http.Request {
	r := httptest.NewRequest("GET", "/products/17?page=2&sort=price", nil)
	r.Header = http.Header{
		"User-Agent":                {"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Language":           {"en-US,en;q=0.5"},
		"Accept-Encoding":           {"gzip, deflate, br, zstd"},
		"Referer":                   {"https://shop.example/products?page=2"},
		"Cookie":                    {"XSRF-TOKEN=" + strings.Repeat("eyJpdiI6I", 32) + "; laravel_session=" + strings.Repeat("kxQ2FtZT0", 32)},
		"Upgrade-Insecure-Requests": {"1"},
		"Sec-Fetch-Dest":            {"document"},
		"Sec-Fetch-Mode":            {"navigate"},
		"Sec-Fetch-Site":            {"same-origin"},
	}
	return r
}

func BenchmarkLine(b *testing.B) {
	encoder, err := newEncoder("json")
	if err != nil {
		b.Fatal(err)
	}
	buffer := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(io.Discard), Size: bufferSize}
	b.Cleanup(func() { buffer.Stop() })
	log := zap.New(zapcore.NewCore(encoder, buffer, zapcore.InfoLevel))
	x := &exchange{
		method: "GET", host: "shop.example", uri: "/products/17?page=2&sort=price", proto: "HTTP/1.1", client: "192.0.2.7",
		userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", elapsed: 2_345_678,
		record: Record{ID: newRequestID(), Site: "shop.example", Upstream: "fpm", Backend: "unix:/run/php/fpm.sock", Attempts: 1},
	}
	b.ReportAllocs()
	for b.Loop() {
		if c := log.Check(zap.InfoLevel, "request"); c != nil {
			c.Write(zap.Inline(x))
		}
	}
}
