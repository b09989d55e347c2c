package conf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func TestRenameOverTheFileIsNoticed(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := started(t, path)
	for _, host := range []string{"b", "c", "d"} {
		put(t, path+".tmp", alone(host))
		rename(t, path+".tmp", path)
		w.shows(host)
	}
}

func TestEditorWithABackupIsNoticed(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := started(t, path)
	for _, host := range []string{"b", "c"} {
		rename(t, path, path+"~")
		put(t, path, alone(host))
		must(t, os.Remove(path+"~"))
		w.shows(host)
	}
}

func TestHalfWrittenFileEndsInTheWholeOne(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := started(t, path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	text := alone("b")
	_, err = file.WriteString(text[:30])
	must(t, err)
	if r := w.next(); r.err == nil {
		t.Errorf("half a file was taken: %+v", r.cfg)
	}
	_, err = file.WriteString(text[30:])
	must(t, err)
	must(t, file.Close())
	w.shows("b")
}

func TestTurnedLinkOfAFolderIsNoticed(t *testing.T) {
	dir := write(t, map[string]string{"releases/1/etc/gateway.toml": alone("a"), "releases/2/etc/gateway.toml": alone("b")})
	turn(t, "releases/1", filepath.Join(dir, "current"))
	w := started(t, filepath.Join(dir, "current/etc/gateway.toml"))
	turn(t, "releases/2", filepath.Join(dir, "current"))
	w.shows("b")
	put(t, filepath.Join(dir, "releases/1/etc/gateway.toml"), alone("old"))
	put(t, filepath.Join(dir, "releases/2/etc/gateway.toml"), alone("c"))
	w.shows("c")
	w.rested()
	w.silent()
}

func TestLinkedFileIsFollowed(t *testing.T) {
	dir := write(t, map[string]string{"etc/x": "", "real/one.toml": alone("a"), "real/two.toml": alone("c")})
	path := filepath.Join(dir, "etc/gateway.toml")
	turn(t, "../real/one.toml", path)
	w := started(t, path)
	put(t, filepath.Join(dir, "real/new"), alone("b"))
	rename(t, filepath.Join(dir, "real/new"), filepath.Join(dir, "real/one.toml"))
	w.shows("b")
	turn(t, filepath.Join(dir, "real/two.toml"), path)
	w.shows("c")
}

func TestKubernetesVolumeIsFollowed(t *testing.T) {
	dir := write(t, map[string]string{"..2026_1/gateway.toml": alone("a")})
	data := filepath.Join(dir, "..data")
	turn(t, "..2026_1", data)
	must(t, os.Symlink("..data/gateway.toml", filepath.Join(dir, "gateway.toml")))
	w := started(t, filepath.Join(dir, "gateway.toml"))
	old := "..2026_1"
	for _, host := range []string{"b", "c", "d"} {
		next := "..2026_" + host
		put(t, filepath.Join(dir, next, "gateway.toml"), alone(host))
		turn(t, next, data)
		must(t, os.RemoveAll(filepath.Join(dir, old)))
		w.shows(host)
		old = next
	}
}

func TestDeletedFileIsWaitedFor(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := started(t, path)
	must(t, os.Remove(path))
	w.rested()
	w.silent()
	put(t, path+".tmp", alone("b"))
	rename(t, path+".tmp", path)
	w.shows("b")
	w.rested()
	w.silent()
}

func TestReplacedFolderIsFollowed(t *testing.T) {
	dir := write(t, map[string]string{"etc/gateway.toml": alone("a"), "etc.new/gateway.toml": alone("b")})
	etc := filepath.Join(dir, "etc")
	w := started(t, filepath.Join(etc, "gateway.toml"))
	rename(t, etc, etc+".old")
	rename(t, etc+".new", etc)
	w.shows("b")
	must(t, os.RemoveAll(etc))
	put(t, filepath.Join(etc, "gateway.toml"), alone("c"))
	w.shows("c")
	put(t, filepath.Join(etc, "gateway.toml"), alone("d"))
	w.shows("d")
}

func TestIncludedFilesComeAndGo(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a")})
	b := filepath.Join(dir, "sites/b.toml")
	w := started(t, filepath.Join(dir, "gateway.toml"))
	put(t, b, site("b", "u")) // the folder is new as well
	w.shows("a b")
	put(t, filepath.Join(dir, "sites/c.toml"), site("c", "u"))
	w.shows("a b c")
	put(t, b, site("b2", "u"))
	w.shows("a b2 c")
	must(t, os.Remove(b))
	w.shows("a c")
}

func TestListOfFilesIsTakenAnew(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a"), "more/x/b.toml": site("b", "u")})
	path := filepath.Join(dir, "gateway.toml")
	w := started(t, path)
	put(t, path, "include = [\"more/*/*.toml\"]\n"+alone("a"))
	w.shows("a b")
	put(t, filepath.Join(dir, "more/x/b.toml"), site("c", "u"))
	w.shows("a c")
	put(t, filepath.Join(dir, "more/y/d.toml"), site("d", "u"))
	w.shows("a c d")
	put(t, path, alone("a"))
	w.shows("a")
}

func TestRenewedCertificateIsNoticed(t *testing.T) {
	files := map[string]string{"live/a.pem": "1", "gateway.toml": "tls = { issuer = \"files\", cert = \"live/a.pem\", key = \"live/a.pem\" }\n" + alone("a")}
	dir := write(t, files)
	w := started(t, filepath.Join(dir, "gateway.toml"))
	put(t, filepath.Join(dir, "live/a.pem"), "2")
	w.shows("a")
}

func TestSameContentIsNoChange(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a")})
	path := filepath.Join(dir, "gateway.toml")
	w := started(t, path)
	put(t, path+".tmp", alone("a"))
	rename(t, path+".tmp", path)
	w.rested()
	must(t, os.Chmod(path, 0o600))
	w.rested()
	w.silent()
}

func TestOtherFilesOfTheFolderAreNotLookedAt(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a")})
	p := placesOf([]string{filepath.Join(dir, "gateway.toml"), filepath.Join(dir, "sites/*.toml")})
	for name, want := range map[string]bool{"gateway.toml": true, "sites": true, "other": false, "sites/a.toml": false, ".": true} {
		if got := p.touched(filepath.Join(dir, name)); got != want {
			t.Errorf("%s touched = %v, want %v", name, got, want)
		}
	}
}

func TestLinksInACircleEnd(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a")})
	must(t, os.Symlink("b", filepath.Join(dir, "a")))
	must(t, os.Symlink("a", filepath.Join(dir, "b")))
	if p := (places{}); p.follow(filepath.Join(dir, "a")) != "" {
		t.Errorf("places = %v", p)
	}
}

func TestBadFileIsLoadedOnceAndThenTheGoodOne(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := started(t, path)
	put(t, path+".tmp", "oops")
	rename(t, path+".tmp", path)
	if r := w.next(); r.err == nil {
		t.Errorf("loaded %+v", r.cfg)
	}
	w.rested()
	w.silent()
	put(t, path, alone("a"))
	w.shows("a")
}

func TestChangeBeforeTheWatchIsNoticed(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := watch(t, path, nil, func() { put(t, path, alone("b")) })
	w.shows("b")
}

func TestLoadForAnotherReasonIsNotRepeated(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	var signalled atomic.Bool
	var w *watching
	w = watch(t, path, func(c *WatchConfig) {
		paths := c.Paths
		c.Paths = func() []string {
			if signalled.Load() {
				w.load() // as if a signal had come just before the look
			}
			return paths()
		}
	}, nil)
	w.rested()
	signalled.Store(true)
	put(t, path+".tmp", alone("b"))
	rename(t, path+".tmp", path)
	w.rested()
	w.silent()
}

func TestOwnerThatKeepsNoDigestIsToldOnce(t *testing.T) {
	for name, digest := range map[string]func() string{"none": nil, "of the first load": func() string { return "first" }} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
			w := watch(t, path, func(c *WatchConfig) { c.Digest = digest }, nil)
			if digest != nil {
				w.shows("a")
			}
			w.rested()
			put(t, path+".tmp", alone("b"))
			rename(t, path+".tmp", path)
			w.shows("b")
			w.rested()
			w.silent()
		})
	}
}

func TestPollingFindsWhatTheKernelDoesNotTell(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := watch(t, path, func(c *WatchConfig) {
		c.poll = 20 * time.Millisecond
		c.add = func(string) error { return errors.New("no watches left") }
	}, nil)
	w.rested()
	put(t, path, alone("b"))
	w.shows("b")
}

func TestRestlessFileIsLookedAtAllTheSame(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"gateway.toml": alone("a")}), "gateway.toml")
	w := watch(t, path, func(c *WatchConfig) { c.Debounce, c.maxDelay = time.Hour, 50*time.Millisecond }, nil)
	w.rested()
	put(t, path, alone("b"))
	w.shows("b")
}

func TestManyRewritesEndInTheLast(t *testing.T) {
	dir := write(t, map[string]string{"gateway.toml": alone("a")})
	path := filepath.Join(dir, "gateway.toml")
	w := started(t, path)
	for i := range 300 {
		put(t, path+".tmp", alone(fmt.Sprintf("h%d", i)))
		rename(t, path+".tmp", path)
	}
	w.shows("h299")
	w.rested()
	w.silent()
}

func TestWatchWantsItsFunctions(t *testing.T) {
	if err := Watch(t.Context(), WatchConfig{}, func() {}); err == nil {
		t.Error("no error without Paths")
	}
}
