package static

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestMissingBuiltAssetsAreOurs(t *testing.T) {
	s := newSite(t, map[string]string{
		"public/build/manifest.json": "{}", "public/js/app.js": "", "public/css/app.css": "", "public/fonts/a.woff2": "",
		"public/images/a.png": "", "public/assets/x": "",
	})
	for _, path := range []string{
		"/build/assets/app-old.js", "/build/assets/app-4ed993c7.css", "/build/assets/logo-DNxiirP_.svg", "/build/assets/a/b.woff2",
		"/build/assets/app-4ed993c7.js.map", "/js/app.js.map", "/css/app.css.map", "/fonts/gone.woff2", "/css/font.ttf",
		"/js/chunk.1a2b3c4d.js", "/assets/index-DNxiirP_.js", "/js/vendor.0123456789abcdef0123.js",
		"/js/gone.js?id=68b329da9893e34099c7", "/css/gone.css?id=68b329da9893e34099c7d8ad5cb9c940", "/images/gone.png?68b329da9893e34099c7d8ad5cb9c940",
	} {
		s.wantStatus(path, 404)
	}
}

// Each of these is routed by Laravel, by a package, or by applications as their tutorials show it.
func TestRoutesWithAnExtensionReachLaravel(t *testing.T) {
	s := newSite(t, map[string]string{"public/js/app.js": "", "public/css/app.css": "", "public/images/a.png": "", "public/vendor/x/y": ""})
	for _, path := range []string{
		"/livewire/livewire.js?id=df3a17f2", "/livewire/livewire.js?id=90730a3b0e7144480175", "/livewire/livewire.min.js.map",
		"/livewire-4f2a9c1b/livewire.min.js", "/flux/flux.js?id=1a2b3c4d", "/sitemap.xml", "/sitemap-posts.xml", "/feed.json", "/feed.atom",
		"/robots.txt", "/favicon.ico", "/manifest.json", "/site.webmanifest", "/sw.js", "/serviceworker.js", "/js/lang.js", "/js/routes.js",
		"/css/theme.css", "/storage/avatars/1a2b3c4d5e6f7a8b.jpg", "/storage/fonts/a.woff2", "/images/photo.jpg", "/images/photo-1a2b3c4d.jpg",
		"/img/photo.jpg?w=300", "/imagecache/small/a.png", "/tenancy/assets/app.css", "/tenancy/assets/font.woff2", "/tenancy/assets/app.js.map",
		"/qr/12.svg", "/invoices/7.pdf", "/export.csv", "/api/users.json", "/build/assets/7", "/build/status.json", "/font.woff2",
		"/users/jane.doe", "/@jane", "/js/gone.js?v=2", "/map", "/sites/a.map", "/css/none/font.woff2",
	} {
		s.wantFrontController(path)
	}
}

func TestFolderBehindALinkIsNoEvidence(t *testing.T) {
	s := newSite(t, map[string]string{"storage/fonts/a.woff2": "font"})
	s.link("../storage", "public/storage")
	s.wantBody("/storage/fonts/a.woff2", "font")
	s.wantFrontController("/storage/fonts/gone.woff2")
}

func TestHashesInNames(t *testing.T) {
	for name, want := range map[string]bool{
		"app-4ed993c7.js": true, "app-DNxiirP_.js": true, "app-C5oJXk-a.css": true, "app-BtvjY1KL.woff2": true, "app-legacy-QmZkLpRw.js": true,
		"a.1a2b3c4d.js": true, "app-4ed993c7.js.map": true, "v.0123456789abcdef.js": true, "v-68b329da9893e34099c7d8ad5cb9c940.css": true,
		"app.js": false, "app-old.js": false, "app-settings.js": false, "app-Settings.js": false, "app-SETTINGS.js": false, "app-userList.js": false,
		"app-UserList.js": false, "user-my-pages.js": false, "app-version2.js": false, "report-20240115.pdf": false, "4ed993c7.js": false,
		"-4ed993c7.js": false, "app_4ed993c7.js": false, "app-4ed993c7": false, "app-4ed993cg!.js": false, "jquery-3.7.1.min.js": false,
		"a-0123456789abcde.js": false, "deadbeefdeadbeef.js": false, "": false, ".js": false,
	} {
		if got := hasHash(name); got != want {
			t.Errorf("hasHash(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestHashedBuildAssetsAreImmutable(t *testing.T) {
	const immutable = "public, max-age=31536000, immutable"
	want := map[string]string{
		"build/assets/app-DNxiirP_.js": immutable, "build/assets/sub/logo-4ed993c7.svg": immutable,
		"build/assets/app.js": "", "build/assets/app-settings.js": "", "build/manifest.json": "", "assets/app-4ed993c7.js": "", "app-4ed993c7.js": "",
	}
	content := map[string]string{}
	for name := range want {
		content["public/"+name] = "x"
	}
	s := newSite(t, content)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got := s.get("/" + name)
		got.wantHeader(t, "Cache-Control", want[name])
		s.get("/"+name, "If-None-Match", got.Header.Get("Etag")).wantHeader(t, "Cache-Control", want[name])
	}
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]string{
		"a.css": "text/css; charset=utf-8", "a.js": "text/javascript; charset=utf-8", "a.mjs": "text/javascript; charset=utf-8",
		"a.json": "application/json; charset=utf-8", "a.map": "application/json; charset=utf-8", "a.svg": "image/svg+xml; charset=utf-8",
		"a.xml": "application/xml; charset=utf-8", "a.HTML": "text/html; charset=utf-8", "a.txt": "text/plain; charset=utf-8",
		"a.webmanifest": "application/manifest+json; charset=utf-8", "a.wasm": "application/wasm", "a.avif": "image/avif",
		"a.woff2": "font/woff2", "a.png": "image/png", "a.mp4": "video/mp4", "a.pdf": "application/pdf", "a.ico": "image/x-icon",
		"a.min.js": "text/javascript; charset=utf-8", "a": "application/octet-stream", "a.unknown": "application/octet-stream",
		"html": "application/octet-stream", "a.html/b": "application/octet-stream", "a.ſvg": "application/octet-stream",
	} {
		if got := kindOf(name).contentType; got != want {
			t.Errorf("kindOf(%q) = %q, want %q", name, got, want)
		}
	}
	for ext, k := range kinds {
		if ext != lower(ext) || strings.HasPrefix(k.contentType, "text/") && !strings.HasSuffix(k.contentType, "; charset=utf-8") {
			t.Errorf("%s: %q", ext, k.contentType)
		}
	}
}

func TestBytesAreNeverSniffed(t *testing.T) {
	s := newSite(t, map[string]string{"public/upload": "<html><script>", "public/upload.xyz": "<html><script>"})
	s.get("/upload").wantHeader(t, "Content-Type", "application/octet-stream")
	s.get("/upload.xyz").wantHeader(t, "Content-Type", "application/octet-stream")
}
