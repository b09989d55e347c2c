package static

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// deploySite has its root behind a link, as deploys do it.
func deploySite(t *testing.T, releases ...string) *site {
	t.Helper()
	s := newSite(t, nil)
	for _, name := range releases {
		s.write("releases/"+name+"/public/a.txt", strings.Repeat(name, 10_000))
		s.write("releases/"+name+"/public/index.php", "<?php")
	}
	s.link("releases/"+releases[0], "current")
	var err error
	if s.files, err = New(Config{Root: s.path("current/public")}); err != nil {
		t.Fatal(err)
	}
	return s
}

// flip makes current another release at once, as ln -sfn does.
func (s *site) flip(name string) {
	s.t.Helper()
	s.link("releases/"+name, "next")
	if err := os.Rename(s.path("next"), s.path("current")); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) wantRelease(name string) {
	s.t.Helper()
	want, err := filepath.EvalSymlinks(s.path("releases/" + name + "/public"))
	if err != nil {
		s.t.Fatal(err)
	}
	if got, err := s.files.Release(); err != nil || got != want {
		s.t.Errorf("Release() = %q, %v, want %q", got, err, want)
	}
}

func TestDeployIsSeenByTheNextRequest(t *testing.T) {
	s := deploySite(t, "1", "2")
	for range 3 {
		for _, name := range []string{"1", "2"} {
			s.flip(name)
			s.wantRelease(name)
			s.wantBody("/a.txt", strings.Repeat(name, 10_000))
		}
	}
}

func TestAnswersAreWhollyOldOrNewDuringDeploys(t *testing.T) {
	s := deploySite(t, "1", "2")
	old, fresh := strings.Repeat("1", 10_000), strings.Repeat("2", 10_000)
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				got := s.get("/a.txt")
				if got.body != old && got.body != fresh {
					t.Errorf("GET = %d %.80q", got.StatusCode, got.body)
					return
				}
			}
		})
	}
	for i := range 300 {
		s.flip(fmt.Sprint(i%2 + 1))
	}
	close(done)
	clients.Wait()
}

func TestRequestStaysOnItsRelease(t *testing.T) {
	s := deploySite(t, "1", "2")
	release, err := s.files.Release()
	if err != nil {
		t.Fatal(err)
	}
	s.flip("2")
	s.wantRelease("2")
	held, err := s.files.hold(release)
	if err != nil {
		t.Fatal(err)
	}
	defer held.done()
	opened, err := s.files.open(held, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	got := make([]byte, 5)
	if _, err := opened.readFull(got); err != nil || string(got) != "11111" {
		t.Errorf("read %q, %v, want 11111", got, err)
	}
}

func TestReplacedFolderIsSeenThoughItsPathIsTheSame(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "old", "new/a.txt": "new"})
	s.wantBody("/a.txt", "old")
	for _, move := range [][2]string{{"public", "old"}, {"new", "public"}} {
		if err := os.Rename(s.path(move[0]), s.path(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	s.wantBody("/a.txt", "new")
}

func TestRenamedReleaseGetsItsNewName(t *testing.T) {
	s := deploySite(t, "1")
	now := time.Now()
	s.files.now = func() time.Time { return now }
	s.wantRelease("1")
	if err := os.Rename(s.path("releases/1"), s.path("releases/9")); err != nil {
		t.Fatal(err)
	}
	s.flip("9")
	now = now.Add(recheckAfter)
	s.wantRelease("9")
}

func TestRootMayBeMissingForAMoment(t *testing.T) {
	s := deploySite(t, "1")
	now := time.Now()
	s.files.now = func() time.Time { return now }
	s.wantRelease("1")
	if err := os.Remove(s.path("current")); err != nil {
		t.Fatal(err)
	}
	s.wantRelease("1")
	now = now.Add(missingFor)
	if got, err := s.files.Release(); err == nil || !strings.Contains(err.Error(), s.path("current/public")) {
		t.Errorf("Release() = %q, %v, want an error that names the root", got, err)
	}
	s.link("releases/1", "current")
	s.wantRelease("1")
}

func TestRootMustBeADirectory(t *testing.T) {
	s := newSite(t, map[string]string{"file": ""})
	var err error
	if s.files, err = New(Config{Root: s.path("file")}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.files.Release(); err == nil {
		t.Errorf("Release() = %q, want an error", got)
	}
}
