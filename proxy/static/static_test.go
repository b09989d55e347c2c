package static

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFilesAndFrontController(t *testing.T) {
	s := newSite(t, map[string]string{
		"public/index.php": "<?php", "public/robots.txt": "robots", "public/css/app.css": "css",
		"public/docs/index.html": "docs", "public/empty.txt": "", "public/naïve \\ ☃.txt": "snow",
		"public/caf\xe9.txt": "latin", "public/.well-known/acme-challenge/x": "token",
		"public/a/.well-known/openid-configuration": "oidc", "public/100%.txt": "percent",
	})
	for path, want := range map[string]string{
		"/robots.txt":                         "robots",
		"/robots.txt?id=3":                    "robots",
		"/%72obots.txt":                       "robots",
		"//robots.txt":                        "robots",
		"/css//app.css":                       "css",
		"/css%2fapp.css":                      "css",
		"/docs/index.html":                    "docs",
		"/empty.txt":                          "",
		"/na%C3%AFve%20%5C%20%E2%98%83.txt":   "snow",
		"/caf%E9.txt":                         "latin",
		"/100%25.txt":                         "percent",
		"/.well-known/acme-challenge/x":       "token",
		"/a/.well-known/openid-configuration": "oidc",
	} {
		s.wantBody(path, want)
	}
	for _, path := range []string{
		"/", "//", "/?x=1", "/index.php", "//index.php", "/index.php/users", "/users/1", "/css", "/css/", "/docs", "/docs/",
		"/robots.txt/", "/robots.txt/x", "/ROBOTS.TXT", "/css%5capp.css", "/%ff%fe", "/caf%C3%A9.txt", "/100%2525.txt",
		"/.well-known/", "/.well-known/change-password", "/" + strings.Repeat("n", 300), strings.Repeat("/long", 1200),
	} {
		s.wantFrontController(path)
	}
}

func TestOtherMethodsAreNotMine(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "a", "public/x.php": "<?php"})
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"} {
		s.do(method, "/a.txt").want(t, 200, frontController)
		s.do(method, "/build/assets/gone.js").want(t, 200, frontController)
		for _, refused := range []string{"/.env", "/x.php"} {
			if got := s.do(method, refused); got.StatusCode != 403 {
				t.Errorf("%s %s = %d, want 403", method, refused, got.StatusCode)
			}
		}
	}
}

func TestHeadHasTheHeaderOfGet(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "hello", "public/big.bin": strings.Repeat("b", 3*smallFile)})
	for _, path := range []string{"/a.txt", "/big.bin"} {
		get, head := s.get(path), s.do(http.MethodHead, path, "Range", "bytes=0-1")
		head.want(t, 200, "")
		for _, name := range []string{"Content-Length", "Content-Type", "Etag", "Last-Modified", "Accept-Ranges"} {
			head.wantHeader(t, name, get.Header.Get(name))
		}
	}
}

func TestDotSegmentsAreRefused(t *testing.T) {
	s := newSite(t, map[string]string{
		"public/.env": "SECRET", "public/.git/config": "SECRET", "public/a/.hidden/b": "SECRET",
		"public/.well-known/.htpasswd": "SECRET", "public/.well-known.bak/x": "SECRET", ".env": "SECRET",
	})
	for _, path := range []string{
		"/.env", "/%2eenv", "/%2Eenv", "//.env", "/.git/config", "/a/.hidden/b", "/.well-known/.htpasswd",
		"/.well-known.bak/x", "/.WELL-KNOWN", "/.missing", "/a/%2e%2e/%2e%2e/.env", "/%2e%2e%2f.env", "/a/%2e/b", "/a%2f.hidden/b",
		"/..%5c.env", "/...", "/.well-known/%2e%2e/.env",
	} {
		s.wantStatus(path, 403)
	}
}

func TestControlBytesAreBadPaths(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "a", "public/a\nb.txt": "SECRET"})
	for _, path := range []string{"/a.txt%00", "/a.txt%00.php", "/%00", "/a%0Ab.txt", "/index.php/a%0Ab", "/%7f", "/%1b", "/a%0d", "/.env%00"} {
		s.wantStatus(path, 400)
	}
}

func TestSourcesAreNeverSent(t *testing.T) {
	names := []string{
		"test.php", "TEST.PHP", "a.Php", "a.php5", "a.php7", "a.phps", "a.phtml", "a.PHAR", "a.pht", "a.inc", "a.blade.php",
		"a.php~", "a.php.bak", "a.PHP.OLD", "a.php.gz", "a.php.bak.gz", "a.php.swp", "b/index.php", "a.php_old", "Index.php", "index.PHP",
	}
	content := map[string]string{"public/index.php": "<?php"}
	for _, name := range names {
		content["public/"+name] = "<?php SECRET"
	}
	s := newSite(t, content)
	for _, name := range names {
		s.wantStatus("/"+name, 403)
	}
	for _, path := range []string{"/wp-login.php", "/old/page.php", "/test.php/", "/test.php/x", "/missing.inc"} {
		s.wantFrontController(path)
	}
}

func TestNamesThatOnlyResembleSources(t *testing.T) {
	for _, name := range []string{"coverage/User.php.html", "phpinfo.txt", "a.phone", "php", "logo.incl", "x.php.txt", "backup.tar.gz", "a.old"} {
		s := newSite(t, map[string]string{"public/" + name: "fine"})
		s.wantBody("/"+name, "fine")
	}
}

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	s := newSite(t, nil)
	if err := unix.Mkfifo(s.path("public/pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	t.Chdir(s.path("public"))
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket.txt"}); err != nil {
		t.Fatal(err)
	}
	s.wantStatus("/pipe.txt", 403)
	s.wantStatus("/socket.txt", 403)
}

func TestUnreadableFileIsRefused(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "SECRET"})
	s.files.beneath = func(int, string, int) (int, error) { return 0, unix.EACCES } // root may read everything
	s.wantStatus("/a.txt", 403)
}

func TestFailingFileSystemIsNotHiddenFromTheOperator(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "a"})
	s.files.beneath = func(int, string, int) (int, error) { return 0, unix.EMFILE }
	s.wantStatus("/a.txt", 500)
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	for want, cfg := range map[string]Config{
		"root": {}, "index": {Root: "/srv", Index: "a/b.php"}, "symlink_targets": {Root: "/srv", SymlinkTargets: []string{""}},
	} {
		if _, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want an error that names %s", cfg, err, want)
		}
	}
}

func TestOtherFrontController(t *testing.T) {
	s := newSite(t, map[string]string{"public/app.php": "<?php", "public/index.php": "<?php"})
	var err error
	if s.files, err = New(Config{Root: s.path("public"), Index: "app.php"}); err != nil {
		t.Fatal(err)
	}
	s.wantFrontController("/app.php")
	s.wantStatus("/index.php", 403)
}

func TestNoDescriptorIsLeaked(t *testing.T) {
	s := newSite(t, map[string]string{"public/a.txt": "a", "public/x.php": "<?php", "storage/a.txt": "s", "storage/b.txt.x/c": "d",
		"public/a.txt.gz": "z", "public/fonts/x": "x", "storage/.env": "SECRET"})
	s.link("../storage", "public/storage")
	s.link("storage/a.txt", "public/linked.txt")
	s.link("storage/.env", "public/env.txt")
	paths := []string{"/a.txt", "/x.php", "/storage/a.txt", "/storage/none", "/storage/b.txt.x", "/linked.txt", "/env.txt", "/fonts", "/fonts/a.woff2"}
	ask := func() {
		for _, path := range paths {
			s.get(path, "Accept-Encoding", "br, gzip")
		}
	}
	ask()
	before := descriptors(t)
	for range 20 {
		ask()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors open, want %d as before the requests", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
