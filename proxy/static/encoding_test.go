package static

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAcceptableCodings(t *testing.T) {
	for header, want := range map[string]string{
		"":                                    "",
		"br":                                  "br",
		"gzip":                                "gzip",
		"x-gzip":                              "gzip",
		"GZIP ;Q=0.5":                         "gzip",
		"gzip, deflate, br, zstd":             "br zstd gzip",
		"gzip;q=1.0, br;q=0.9, zstd;q=0.95":   "gzip zstd br",
		"gzip;q=0":                            "",
		"br;q=0, *":                           "zstd gzip",
		"*":                                   "br zstd gzip",
		"*;q=0":                               "",
		"*;q=0.1, gzip":                       "gzip br zstd",
		"identity;q=1, gzip;q=0.5":            "",
		"identity;q=0.5, gzip;q=0.5":          "gzip",
		"identity;q=0.3, gzip;q=0.2, br;q=.9": "",
		"identity;q=0, gzip;q=0.001":          "gzip",
		"gzip;q=1.001":                        "",
		"gzip;q=0.1234":                       "",
		"gzip;q=two, br;q=0.2":                "br",
		"gzip;level=9":                        "",
		"brotli, gz, compress, ,;,":           "",
	} {
		var names []string
		for _, c := range acceptable(nil, []string{header}) {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("acceptable(%q) = %q, want %q", header, got, want)
		}
	}
	if got := acceptable(nil, []string{"br", "gzip"}); len(got) != 2 {
		t.Errorf("two lines of Accept-Encoding = %v, want both", got)
	}
}

func FuzzAcceptable(f *testing.F) {
	for _, seed := range []string{"gzip, deflate, br;q=0.5", "*;q=0", "identity;q=0.5,zstd", ";,;q=1", "br;q=0.0000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := acceptable(nil, []string{header})
		weights, identity := weigh([]string{header})
		for i, c := range got {
			weight := weights[slices.Index(codings[:], c)]
			if weight <= 0 || weight > 1000 || weight < identity {
				t.Errorf("%q: %s has weight %d, identity %d", header, c.name, weight, identity)
			}
			if slices.Contains(got[:i], c) {
				t.Errorf("%q: %s twice", header, c.name)
			}
		}
	})
}

// packedSite has three sidecars beside one file; that they say their names is enough for us.
func packedSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, map[string]string{
		"public/app.js": "plain", "public/app.js.br": "in brotli", "public/app.js.zst": "in zstd", "public/app.js.gz": "in gzip",
		"public/bare.js": "bare", "public/photo.jpg": "photo", "public/photo.jpg.gz": "never",
	})
	for _, name := range []string{"app.js", "app.js.br", "app.js.zst", "app.js.gz"} {
		s.stamp("public/"+name, stamp)
	}
	return s
}

func TestSidecarIsChosenByTheClient(t *testing.T) {
	s := packedSite(t)
	tags := map[string]bool{}
	for accept, want := range map[string][2]string{
		"": {"", "plain"}, "deflate": {"", "plain"}, "gzip, br, zstd": {"br", "in brotli"}, "gzip, zstd": {"zstd", "in zstd"}, "gzip": {"gzip", "in gzip"},
	} {
		got := s.get("/app.js", "Accept-Encoding", accept)
		got.want(t, 200, want[1])
		got.wantHeader(t, "Content-Encoding", want[0])
		got.wantHeader(t, "Vary", "Accept-Encoding")
		got.wantHeader(t, "Content-Type", "text/javascript; charset=utf-8")
		if got.ContentLength != int64(len(want[1])) {
			t.Errorf("%s: Content-Length = %d, want %d", accept, got.ContentLength, len(want[1]))
		}
		tags[got.Header.Get("Etag")] = true
	}
	if len(tags) != 4 {
		t.Errorf("%d ETags for four encodings", len(tags))
	}
}

func TestVaryWhereASidecarCouldBe(t *testing.T) {
	s := packedSite(t)
	for _, accept := range []string{"", "br"} {
		etag := s.get("/app.js", "Accept-Encoding", accept).Header.Get("Etag")
		for status, header := range map[int][]string{200: nil, 206: {"Range", "bytes=0-1"}, 304: {"If-None-Match", etag}} {
			got := s.get("/app.js", append(header, "Accept-Encoding", accept)...)
			if got.StatusCode != status {
				t.Errorf("status = %d, want %d", got.StatusCode, status)
			}
			got.wantHeader(t, "Vary", "Accept-Encoding")
			got.wantHeader(t, "Etag", etag)
		}
	}
	s.get("/bare.js").wantHeader(t, "Vary", "Accept-Encoding")
	photo := s.get("/photo.jpg", "Accept-Encoding", "gzip")
	photo.want(t, 200, "photo")
	photo.wantHeader(t, "Vary", "")
}

func TestRangeOfASidecarIsOfItsOwnBytes(t *testing.T) {
	s := packedSite(t)
	got := s.get("/app.js", "Accept-Encoding", "br", "Range", "bytes=3-5")
	got.want(t, 206, "bro")
	got.wantHeader(t, "Content-Encoding", "br")
	got.wantHeader(t, "Content-Range", "bytes 3-5/9")
	if head := s.do(http.MethodHead, "/app.js", "Accept-Encoding", "br"); head.ContentLength != 9 || head.Header.Get("Content-Encoding") != "br" {
		t.Errorf("HEAD = %d bytes of %q, want 9 of br", head.ContentLength, head.Header.Get("Content-Encoding"))
	}
	changed := s.get("/app.js", "Accept-Encoding", "br", "Range", "bytes=0-1", "If-Range", s.get("/app.js").Header.Get("Etag"))
	changed.want(t, 200, "in brotli")
}

func TestStaleAndUnfitSidecarsArePassedOver(t *testing.T) {
	s := packedSite(t)
	s.stamp("public/app.js.br", stamp.Add(-time.Second))
	s.get("/app.js", "Accept-Encoding", "br, gzip;q=0.5").want(t, 200, "in gzip")
	s.stamp("public/app.js.br", stamp.Add(time.Second))
	s.get("/app.js", "Accept-Encoding", "br").want(t, 200, "in brotli")
	s.mkdir("public/bare.js.br")
	s.write("secret", "SECRET")
	s.link("../secret", "public/bare.js.gz")
	s.get("/bare.js", "Accept-Encoding", "br, gzip").want(t, 200, "bare")
}

func TestSidecarAloneIsNoFile(t *testing.T) {
	s := newSite(t, map[string]string{"public/app.js.gz": "packed"})
	s.get("/app.js", "Accept-Encoding", "gzip").want(t, 200, frontController)
	got := s.get("/app.js.gz")
	got.want(t, 200, "packed")
	got.wantHeader(t, "Content-Type", "application/gzip")
	got.wantHeader(t, "Content-Encoding", "")
}

func TestSidecarsBeyondLinks(t *testing.T) {
	s := newSite(t, map[string]string{"storage/a.css": "plain", "storage/a.css.gz": "packed"})
	s.link("../storage", "public/storage")
	s.link("../storage/a.css", "public/linked.css")
	for _, path := range []string{"/storage/a.css", "/linked.css"} {
		s.get(path, "Accept-Encoding", "gzip").want(t, 200, "packed")
	}
}
