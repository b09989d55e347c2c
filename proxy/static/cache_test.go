package static

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// cachingSite takes every file for one that was written long ago, so that small ones are kept at once.
func cachingSite(t *testing.T, content map[string]string) *site {
	t.Helper()
	s := newSite(t, content)
	s.files.now = func() time.Time { return time.Now().Add(settled) }
	return s
}

func (s *site) kept(name string) bool {
	release := s.files.current.Load()
	_, ok := release.small.find(release.fd, name)
	return ok
}

func TestKeptFileAnswersLikeTheOneOnDisk(t *testing.T) {
	s := cachingSite(t, map[string]string{"public/a.js": "0123456789", "public/a.js.gz": "packed"})
	fresh := s.get("/a.js")
	if !s.kept("a.js") {
		t.Fatal("a.js is not kept")
	}
	again := s.get("/a.js")
	again.want(t, 200, "0123456789")
	for _, name := range []string{"Etag", "Last-Modified", "Content-Type", "Content-Length", "Vary"} {
		again.wantHeader(t, name, fresh.Header.Get(name))
	}
	s.get("/a.js", "Range", "bytes=2-4").want(t, 206, "234")
	if parts := s.get("/a.js", "Range", "bytes=0-1,8-"); !strings.Contains(parts.body, "\r\n01\r\n") || !strings.Contains(parts.body, "\r\n89\r\n") {
		t.Errorf("parts = %q", parts.body)
	}
	s.get("/a.js", "If-None-Match", fresh.Header.Get("Etag")).want(t, 304, "")
	s.do("HEAD", "/a.js").want(t, 200, "")
	for range 2 {
		s.get("/a.js", "Accept-Encoding", "gzip").want(t, 200, "packed")
	}
}

func TestChangesOfAKeptFileAreSeen(t *testing.T) {
	s := cachingSite(t, map[string]string{"public/a.txt": "one", ".env": "SECRET", "public/b/c.txt": "c", "evil/c.txt": "SECRET"})
	s.wantBody("/a.txt", "one")
	s.wantBody("/b/c.txt", "c")
	s.stamp("public/a.txt", stamp)
	s.wantBody("/a.txt", "one")
	s.write("public/a.txt", "two")
	s.stamp("public/a.txt", stamp)
	s.wantBody("/a.txt", "two")
	if err := os.Remove(s.path("public/a.txt")); err != nil {
		t.Fatal(err)
	}
	s.wantFrontController("/a.txt")
	s.link("../.env", "public/a.txt")
	s.wantStatus("/a.txt", 403)
	if err := os.Rename(s.path("public/b"), s.path("b")); err != nil {
		t.Fatal(err)
	}
	s.link("../evil", "public/b")
	s.wantStatus("/b/c.txt", 403)
}

func TestFileJustWrittenIsNotKept(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "one"})
	s.wantBody("/a.txt", "one")
	if s.kept("a.txt") {
		t.Error("a.txt is kept, though it may change without another time")
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	s := cachingSite(t, map[string]string{"public/large.txt": strings.Repeat("x", cachedFile+1), "public/empty.txt": ""})
	s.get("/large.txt")
	s.get("/empty.txt")
	if s.kept("large.txt") || s.kept("empty.txt") {
		t.Error("a file beyond the limit, or an empty one, is kept")
	}
	small := s.files.current.Load().small
	for i := range 3 * cacheBytes / cachedFile {
		small.put(fmt.Sprint(i%(2*cacheBytes/cachedFile)), state{}, make([]byte, cachedFile), time.Now())
		total := 0
		for _, kept := range small.files {
			total += len(kept.data)
		}
		if total != small.bytes || total > cacheBytes {
			t.Fatalf("%d bytes are kept and %d counted, want at most %d", total, small.bytes, cacheBytes)
		}
	}
}

func TestNextReleaseStartsEmpty(t *testing.T) {
	s := deploySite(t, "1", "2")
	s.files.now = func() time.Time { return time.Now().Add(settled) }
	s.write("releases/1/public/b.txt", "one")
	s.write("releases/2/public/b.txt", "two")
	for range 2 {
		s.wantBody("/b.txt", "one")
	}
	s.flip("2")
	for range 2 {
		s.wantBody("/b.txt", "two")
	}
}
