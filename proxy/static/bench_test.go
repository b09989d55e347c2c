package static

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A discarding writer leaves what Serve itself costs, without a connection.
type discarding struct{ header http.Header }

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarding) WriteHeader(int)             {}

func BenchmarkServe(b *testing.B) {
	s := newSite(b, map[string]string{
		"public/a.css": strings.Repeat("x", 1024), "public/packed.css": "plain", "public/packed.css.br": "packed",
		"storage/photo.jpg": strings.Repeat("x", 1024), "public/32k.bin": strings.Repeat("x", smallFile),
	})
	s.link("../storage", "public/storage")
	for _, c := range []struct {
		name, path, accept string
		age                time.Duration
	}{
		{"1KiB/kept", "/a.css", "", settled},
		{"1KiB/read", "/a.css", "", 0},
		{"1KiB/no-sidecar", "/a.css", "gzip, deflate, br, zstd", settled},
		{"sidecar", "/packed.css", "gzip, deflate, br, zstd", settled},
		{"storage", "/storage/photo.jpg", "", settled},
		{"32KiB", "/32k.bin", "", settled},
		{"route", "/users/1", "", 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			files, err := New(Config{Root: s.path("public")})
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			files.now = func() time.Time { return start.Add(c.age) }
			r, err := http.NewRequest(http.MethodGet, c.path, nil)
			if err != nil {
				b.Fatal(err)
			}
			if c.accept != "" {
				r.Header.Set("Accept-Encoding", c.accept)
			}
			b.ReportAllocs()
			for b.Loop() {
				release, err := files.Release()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := files.Serve(&discarding{http.Header{}}, r, release); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
