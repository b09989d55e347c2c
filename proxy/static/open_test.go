package static

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// linkedSite is a release whose links lead to every kind of place.
func linkedSite(t testing.TB) *site {
	t.Helper()
	s := newSite(t, map[string]string{
		"public/index.php": "<?php", "public/css/app.css": "css", "public/.secret": "SECRET",
		"storage/app/public/photo.jpg": "photo", "storage/app/public/a/b.txt": "deep", "storage/app/.env": "SECRET",
		"storage/app/public/.env": "SECRET", "storage/app/public/shell.php": "<?php SECRET", "storage/app/secret.txt": "SECRET",
		"images/shoe.png": "shoe", "public-evil/x.txt": "SECRET", "config/app.txt": "SECRET", ".env": "SECRET",
	}, "../images")
	s.link(s.path("storage/app/public"), "public/storage") // absolute, as artisan storage:link makes it
	s.link("../secret.txt", "storage/app/public/up.txt")
	s.link("/etc/passwd", "storage/app/public/passwd.txt")
	s.link("a", "storage/app/public/same")
	s.link("../../../public/css", "storage/app/public/css")
	s.link("css", "public/styles")
	s.link(s.path("public/css/app.css"), "public/absolute.css")
	s.link("../images", "public/img")
	s.link("../config", "public/config")
	s.link("../public-evil", "public/evil")
	s.link("../.env", "public/env.txt")
	s.link(".secret", "public/secret.txt")
	s.link("index.php", "public/source.txt")
	s.link("/", "public/rootfs")
	s.link("circle.txt", "public/circle.txt")
	s.link("nowhere", "public/dangling.txt")
	return s
}

var openers = map[string]func(int, string, int) (int, error){"openat2": beneath(), "walk": walk}

func TestLinksLeadToTheReleaseAndItsTargetsAlone(t *testing.T) {
	s := linkedSite(t)
	for name, opener := range openers {
		t.Run(name, func(t *testing.T) {
			s.files.beneath = opener
			for path, want := range map[string]string{
				"/storage/photo.jpg": "photo", "/storage/a/b.txt": "deep", "/storage/same/b.txt": "deep", "/storage//a//b.txt": "deep",
				"/storage/css/app.css": "css", "/styles/app.css": "css", "/absolute.css": "css", "/img/shoe.png": "shoe",
			} {
				s.wantBody(path, want)
			}
			for _, path := range []string{
				"/storage/up.txt", "/storage/passwd.txt", "/config/app.txt", "/evil/x.txt", "/env.txt", "/secret.txt", "/source.txt",
				"/rootfs/etc/passwd", "/circle.txt", "/storage/.env", "/storage/shell.php", "/storage/../.env", "/storage/%2e%2e/%2e%2e/.env",
				"/storage/..%2f..%2f.env", "/config",
			} {
				s.wantStatus(path, 403)
			}
			for _, path := range []string{"/dangling.txt", "/storage", "/storage/", "/storage/a", "/storage/none.jpg", "/img", "/styles", "/storage/photo.jpg/x"} {
				s.wantFrontController(path)
			}
		})
	}
}

// Names without an extension are asked for before they are opened, which must not change what becomes of them.
func TestNamesWithoutExtension(t *testing.T) {
	s := linkedSite(t)
	s.write("public/LICENSE", "licence")
	s.write("storage/app/public/NOTES", "notes")
	s.write("public-evil/KEY", "SECRET")
	s.link("nowhere", "public/dangling")
	s.link("loop", "public/loop")
	s.link("LICENSE", "public/COPYING")
	for path, want := range map[string]string{"/LICENSE": "licence", "/COPYING": "licence", "/storage/NOTES": "notes"} {
		s.wantBody(path, want)
	}
	for _, path := range []string{"/loop", "/loop/x", "/evil/KEY", "/rootfs/etc/hostname", "/config"} {
		s.wantStatus(path, 403)
	}
	for _, path := range []string{
		"/users", "/users/17", "/dangling", "/dangling/x", "/evil/NONE", "/rootfs/none", "/LICENSE/x", "/storage/NONE", "/css", "/styles",
	} {
		s.wantFrontController(path)
	}
}

func TestFileIsSeenByTheNextRequest(t *testing.T) {
	s := newSite(t, map[string]string{"public/index.php": "<?php"})
	s.wantFrontController("/LICENSE")
	s.write("public/LICENSE", "licence")
	s.wantBody("/LICENSE", "licence")
	if err := os.Remove(s.path("public/LICENSE")); err != nil {
		t.Fatal(err)
	}
	s.wantFrontController("/LICENSE")
}

func TestStorageMayLeadThroughASharedFolder(t *testing.T) {
	s := newSite(t, map[string]string{"shared/app/public/a.txt": "shared"})
	s.link("shared", "storage")
	s.link(s.path("storage/app/public"), "public/storage")
	s.wantBody("/storage/a.txt", "shared")
}

func TestStorageMayBeADirectory(t *testing.T) {
	s := newSite(t, map[string]string{"public/storage/a.txt": "plain"})
	s.wantBody("/storage/a.txt", "plain")
}

func TestTargetsByLinkAndByAbsolutePath(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "a.txt"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, map[string]string{"docs/a.txt": "docs", "public/deep/x": ""}, "deep/docs/", outside)
	s.link("../../docs", "public/deep/docs")
	s.link(outside, "public/out")
	s.wantBody("/deep/docs/a.txt", "docs")
	s.wantBody("/out/a.txt", "outside")
}

func TestOpenersAgree(t *testing.T) {
	s := linkedSite(t)
	dir, err := openDirectory(unix.AT_FDCWD, s.path("public"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	for name, want := range map[string]error{
		"css/app.css": nil, "css": nil, "css/": nil, "none": unix.ENOENT, "css/none": unix.ENOENT, "css/app.css/x": unix.ENOTDIR,
		"styles": unix.ELOOP, "styles/app.css": unix.ELOOP, "circle.txt": unix.ELOOP, "dangling.txt": unix.ELOOP,
		strings.Repeat("n", 300): unix.ENAMETOOLONG,
	} {
		for opener, open := range openers {
			fd, err := open(dir, name, unix.O_RDONLY|unix.O_NONBLOCK)
			if err == nil {
				unix.Close(fd)
			}
			if err != want {
				t.Errorf("%s(%.20q) = %v, want %v", opener, name, err, want)
			}
		}
	}
}

func TestBelowKnowsSiblings(t *testing.T) {
	for _, c := range []struct {
		root, path, rest string
		ok               bool
	}{
		{"/srv/www", "/srv/www", "", true}, {"/srv/www", "/srv/www/a", "a", true}, {"/srv/www", "/srv/www-evil/a", "", false},
		{"/srv/www", "/srv", "", false}, {"/", "/etc/x", "etc/x", true},
	} {
		rest, ok := below(c.root, c.path)
		if ok != c.ok || ok && rest != c.rest {
			t.Errorf("below(%q, %q) = %q, %v, want %q, %v", c.root, c.path, rest, ok, c.rest, c.ok)
		}
	}
}
