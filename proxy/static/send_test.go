package static

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var stamp = time.Date(2024, time.May, 6, 7, 8, 9, 123456789, time.UTC)

const stampHTTP = "Mon, 06 May 2024 07:08:09 GMT"

// stampedSite has one file for each way of sending: at once, and by sendfile.
func stampedSite(t *testing.T) (*site, map[string]string) {
	t.Helper()
	content := map[string]string{"/small.txt": "0123456789", "/large.bin": strings.Repeat("0123456789", 20_000)}
	s := newSite(t, nil)
	for path, body := range content {
		s.write("public"+path, body)
		s.stamp("public"+path, stamp)
	}
	return s, content
}

func TestSizesAreSentWhole(t *testing.T) {
	s := newSite(t, nil)
	for _, size := range []int{0, 1, 511, 512, 513, 2048, smallFile - 1, smallFile, smallFile + 1, 5 << 20} {
		body := strings.Repeat("x", size)
		s.write("public/a.txt", body)
		for _, url := range []string{s.url, s.tls} {
			resp, err := s.http.Get(url + "/a.txt")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(got) != body || resp.ContentLength != int64(size) {
				t.Errorf("%s: %d bytes of %d, length %d, %v", resp.Proto, len(got), size, resp.ContentLength, err)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	s, content := stampedSite(t)
	for path, body := range content {
		etag := s.get(path).Header.Get("Etag")
		if !strings.HasPrefix(etag, `"`) {
			t.Fatalf("ETag = %s, want a strong one", etag)
		}
		for _, c := range []struct {
			name   string
			header []string
			status int
		}{
			{"same tag", []string{"If-None-Match", etag}, 304},
			{"weak form of the tag, as a compressing proxy makes it", []string{"If-None-Match", "W/" + etag}, 304},
			{"one of several tags", []string{"If-None-Match", `"x", ` + etag}, 304},
			{"any tag", []string{"If-None-Match", "*"}, 304},
			{"other tag", []string{"If-None-Match", `"x"`}, 200},
			{"a tag goes before a date", []string{"If-None-Match", `"x"`, "If-Modified-Since", stampHTTP}, 200},
			{"same date", []string{"If-Modified-Since", stampHTTP}, 304},
			{"later date", []string{"If-Modified-Since", "Tue, 07 May 2024 07:08:09 GMT"}, 304},
			{"earlier date", []string{"If-Modified-Since", "Sun, 05 May 2024 07:08:09 GMT"}, 200},
			{"no date", []string{"If-Modified-Since", "yesterday"}, 200},
			{"match", []string{"If-Match", etag}, 200},
			{"match any", []string{"If-Match", "*"}, 200},
			{"no match", []string{"If-Match", `"x"`}, 412},
			{"match is strong", []string{"If-Match", "W/" + etag}, 412},
			{"unmodified", []string{"If-Unmodified-Since", stampHTTP}, 200},
			{"modified", []string{"If-Unmodified-Since", "Sun, 05 May 2024 07:08:09 GMT"}, 412},
		} {
			got := s.get(path, c.header...)
			want := ""
			if c.status == 200 {
				want = body
			}
			if got.StatusCode != c.status || got.body != want {
				t.Errorf("%s, %s: %d and %d bytes, want %d", path, c.name, got.StatusCode, len(got.body), c.status)
			}
			got.wantHeader(t, "Etag", etag)
		}
	}
}

func TestRanges(t *testing.T) {
	s, content := stampedSite(t)
	for path, body := range content {
		etag, size := s.get(path).Header.Get("Etag"), len(body)
		for _, c := range []struct {
			name, value string
			header      []string
			status      int
			want        string
		}{
			{"first bytes", "bytes=0-3", nil, 206, "0123"},
			{"to the end", "bytes=7-", nil, 206, body[7:]},
			{"last bytes", "bytes=-2", nil, 206, "89"},
			{"beyond the end", "bytes=5-99999999", nil, 206, body[5:]},
			{"more than all last bytes", "bytes=-99999999", nil, 206, body},
			{"after the end", "bytes=99999999-", nil, 416, ""},
			{"nonsense", "bytes=x", nil, 416, ""},
			{"the last no bytes", "bytes=-0", nil, 416, ""},
			{"the last no bytes, in a list", "bytes=-00, 0-3", nil, 206, "0123"},
			{"unknown unit", "items=0-1", nil, 200, body},
			{"as many parts as an attack", "bytes=0-0" + strings.Repeat(",0-0", maxRanges), nil, 200, body},
			{"If-Range, same tag", "bytes=0-3", []string{"If-Range", etag}, 206, "0123"},
			{"If-Range, other tag", "bytes=0-3", []string{"If-Range", `"x"`}, 200, body},
			{"If-Range, weak tag", "bytes=0-3", []string{"If-Range", "W/" + etag}, 200, body},
			{"If-Range, same date", "bytes=0-3", []string{"If-Range", stampHTTP}, 206, "0123"},
			{"If-Range, other date", "bytes=0-3", []string{"If-Range", "Sun, 05 May 2024 07:08:09 GMT"}, 200, body},
			{"If-None-Match goes first", "bytes=0-3", []string{"If-None-Match", etag}, 304, ""},
		} {
			got := s.get(path, append(c.header, "Range", c.value)...)
			if got.StatusCode != c.status || c.status != 416 && got.body != c.want {
				t.Errorf("%s of %d bytes, %s: %d and %d bytes %.20q, want %d", path, size, c.name, got.StatusCode, len(got.body), got.body, c.status)
			}
		}
		s.get(path, "Range", "bytes=0-3").wantHeader(t, "Content-Range", "bytes 0-3/"+strconv.Itoa(size))
		for _, none := range []string{"bytes=99999999-", "bytes=x", "bytes=5-4", "bytes=-0"} {
			s.get(path, "Range", none).wantHeader(t, "Content-Range", "bytes */"+strconv.Itoa(size))
		}
	}
}

func TestPartsOfAFile(t *testing.T) {
	s, content := stampedSite(t)
	for path, body := range content {
		answer := s.get(path, "Range", "bytes=0-1,3-4,-2")
		kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/byteranges" || answer.StatusCode != 206 || answer.ContentLength != int64(len(answer.body)) {
			t.Fatalf("%s = %d %s, length %d, %v", path, answer.StatusCode, kind, answer.ContentLength, err)
		}
		parts := multipart.NewReader(strings.NewReader(answer.body), params["boundary"])
		for _, want := range []string{body[:2], body[3:5], body[len(body)-2:]} {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(part); err != nil || string(got) != want {
				t.Errorf("part %s = %q, %v, want %q", part.Header.Get("Content-Range"), got, err, want)
			}
		}
	}
}

func TestChangedContentHasAnotherTag(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "one"})
	for _, at := range []time.Time{stamp, time.Unix(0, 0), time.Unix(1, 0), time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)} {
		s.stamp("public/a.txt", at)
		old := s.get("/a.txt").Header
		s.write("next", "two") // as long as the other
		s.stamp("next", at)
		if err := os.Rename(s.path("next"), s.path("public/a.txt")); err != nil {
			t.Fatal(err)
		}
		if at == stamp {
			continue // cp -p of other bytes of the same length: no server tells these apart
		}
		s.get("/a.txt", "If-None-Match", old.Get("Etag")).want(t, 200, "two")
		if modified := old.Get("Last-Modified"); modified != "" {
			t.Errorf("Last-Modified = %s for a file without a time", modified)
		}
	}
}

func TestRewrittenFileHasAnotherTag(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "one"})
	s.stamp("public/a.txt", stamp)
	etag := s.get("/a.txt").Header.Get("Etag")
	s.write("public/a.txt", "two")
	s.get("/a.txt", "If-None-Match", etag).want(t, 200, "two")
}

func TestFutureIsNotAModificationTime(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "a"})
	s.stamp("public/a.txt", time.Now().Add(time.Hour))
	s.get("/a.txt").wantHeader(t, "Last-Modified", "")
	s.stamp("public/a.txt", stamp)
	s.get("/a.txt").wantHeader(t, "Last-Modified", stampHTTP)
}

func TestFailedConditionIsNotCached(t *testing.T) {
	s := newSite(t, map[string]string{"public/build/assets/app-DNxiirP_.js": "js"})
	s.get("/build/assets/app-DNxiirP_.js", "If-Match", `"x"`).wantHeader(t, "Cache-Control", "")
	s.get("/build/assets/app-DNxiirP_.js", "Range", "bytes=9-").wantHeader(t, "Cache-Control", "")
}

// net/http ends an HTTP/2 stream as if nothing were missing when a handler returns early.
func TestTruncatedFileAbortsTheAnswer(t *testing.T) {
	const size = 64 << 20 // more than the buffers between us and the client hold
	s := newSite(t, map[string]string{"public/big.bin": ""})
	for _, url := range []string{s.url, s.tls} {
		for _, value := range []string{"", "bytes=1-", "bytes=1-9,20-"} {
			if err := os.Truncate(s.path("public/big.bin"), size); err != nil {
				t.Fatal(err)
			}
			got, err := s.readWhileTruncating(url+"/big.bin", value)
			if err == nil {
				t.Errorf("%s, Range %q: %d bytes read as if they were all", url, value, got)
			}
			if err := <-s.errs; !errors.Is(err, ErrTruncated) {
				t.Errorf("Serve = %v, want ErrTruncated", err)
			}
		}
	}
}

func (s *site) readWhileTruncating(url, ranges string) (int64, error) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if ranges != "" {
		r.Header.Set("Range", ranges)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := os.Truncate(s.path("public/big.bin"), 10); err != nil {
		s.t.Fatal(err)
	}
	return io.Copy(io.Discard, resp.Body)
}

func TestTruncatedSmallFileAbortsTheAnswer(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "0123456789"})
	release, err := s.files.Release()
	if err != nil {
		t.Fatal(err)
	}
	w := &truncatingWriter{header: http.Header{}, path: filepath.Join(release, "a.txt")}
	r, err := http.NewRequest(http.MethodGet, "/a.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := s.files.Serve(w, r, release); outcome != Aborted || !errors.Is(err, ErrTruncated) {
		t.Errorf("Serve = %v, %v, want Aborted and ErrTruncated", outcome, err)
	}
}

// A truncatingWriter shortens the file between its header and its body.
type truncatingWriter struct {
	header http.Header
	path   string
}

func (w *truncatingWriter) Header() http.Header         { return w.header }
func (w *truncatingWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *truncatingWriter) WriteHeader(int)             { os.Truncate(w.path, 5) }

func TestClientThatLeavesIsNotTruncation(t *testing.T) {
	s := newSite(t, map[string]string{"public/big.bin": ""})
	if err := os.Truncate(s.path("public/big.bin"), 64<<20); err != nil {
		t.Fatal(err)
	}
	resp, err := s.http.Get(s.url + "/big.bin")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := <-s.errs; err == nil || errors.Is(err, ErrTruncated) {
		t.Errorf("Serve = %v, want the write's error", err)
	}
}
