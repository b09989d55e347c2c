package meter

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answers is a backend that takes the given answer for everything, and remembers which files it was to run.
type answers struct {
	status int
	body   string
	files  []string
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.files = append(a.files, r.URL.Path)
	if a.status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: a.status, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

const told = `{"php":"8.2.36","sapi":"fpm-fcgi","opcache":"on","opcache_memory":"128","opcache_validate":"off","jit":"off",` +
	`"xdebug":"off","environment":{"APP_DEBUG":"1"}}`

func TestProbeIsRunAndRemoved(t *testing.T) {
	temp := t.TempDir()
	backend := &answers{status: 200, body: told}
	i := Inspection{Network: "unix", Address: "/run/php.sock", Scripts: backend, Temp: temp}
	f := i.Fingerprint(t.Context())
	if f[KeyProbe] != "answered" || f[KeyPHP] != "8.2.36" || f[KeyOPcache] != "on" || f[KeyKind] != Unknown {
		t.Errorf("fingerprint = %v", f)
	}
	if len(backend.files) != 1 || filepath.Dir(filepath.Dir(backend.files[0])) != temp {
		t.Errorf("files run: %q, want one below %s", backend.files, temp)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestProbeThatIsNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		backend answers
		address string
		want    string
	}{
		"not found":       {answers{status: 404, body: "File not found."}, "127.0.0.1:9000", "answered with status 404"},
		"another script":  {answers{status: 200, body: "<html>"}, "127.0.0.1:9000", "answer is not that of the script"},
		"other JSON":      {answers{status: 200, body: "{}"}, "127.0.0.1:9000", "answer is not that of the script"},
		"refused":         {answers{}, "127.0.0.1:9000", "connection refused"},
		"another machine": {answers{status: 200, body: told}, "10.0.0.2:9000", "not run on another machine"},
		"a host's name":   {answers{status: 200, body: told}, "db.example:9000", "not run on another machine"},
	} {
		temp := t.TempDir()
		f := Inspection{Network: "tcp", Address: c.address, Scripts: &c.backend, Temp: temp}.Fingerprint(t.Context())
		if !strings.HasPrefix(f[KeyProbe], c.want) || f[KeyPHP] != Unknown {
			t.Errorf("%s: %q and PHP %s, want %q", name, f[KeyProbe], f[KeyPHP], c.want)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
		if c.want == "not run on another machine" && len(c.backend.files) > 0 {
			t.Errorf("%s: asked for %q", name, c.backend.files)
		}
	}
}

func TestFPMStatus(t *testing.T) {
	backend := &answers{status: 200, body: `{"pool":"www","process manager":"dynamic","accepted conn":7,"idle processes":2,"total processes":3}`}
	s, err := ReadFPMStatus(t.Context(), backend, "/status")
	if want := (FPMStatus{Pool: "www", Manager: "dynamic", Accepted: 7, Idle: 2, Processes: 3}); err != nil || s != want || backend.files[0] != "/status" {
		t.Errorf("%+v, %v from %q; want %+v", s, err, backend.files, want)
	}
	for _, bad := range []string{`{"pool":"www","active processes":-105}`, `{"idle processes":2}`, `pong`, `{"pool":"www","idle processes":1e99}`} {
		if s, err := parseFPMStatus([]byte(bad)); err == nil {
			t.Errorf("%s: %+v, want an error", bad, s)
		}
	}
}

// fpm is a master with one child of pool shop.
func fpm(t *testing.T) (fake, *Tree) {
	f := newFake()
	f.process(11, 1, "php-fpm", "php-fpm: master process (/usr/local/etc/php-fpm.conf)")
	f.process(12, 11, "php-fpm", "php-fpm: pool shop      ")
	f.holds(11, 8, 700)
	f.holds(12, 0, 700)
	f.listens("proc/net", port8000, 700)
	f.write("proc/11/root/usr/local/etc/php-fpm.conf", "[global]\ninclude=etc/php-fpm.d/*.conf\n")
	f.write("proc/11/root/usr/local/etc/php-fpm.d/a.conf",
		"[shop]\npm = ondemand\npm.max_children = 9\npm.status_path = /status\nenv[APP_DEBUG] = on\nenv[APP_ENV] = $WHATEVER\n")
	return f, f.find(t, "tcp", "127.0.0.1:8000")
}

func TestFingerprintOfFPM(t *testing.T) {
	f, tree := fpm(t)
	f.write("srv/shop/bootstrap/cache/services.php", "x")
	f.write("proc/12/maps", mappings("/usr/local/lib/php/extensions/no-debug-non-zts-20230831/", "opcache.so", "xdebug.so")+segment(128, "rw-s")+segment(16, "r-xs"))
	i := Inspection{Network: "tcp", Address: "127.0.0.1:8000", Tree: tree, Application: "/srv/shop"}
	want := map[string]string{KeyKind: "fpm", KeyPHP: "8.3", KeyManager: "ondemand", KeyMaxChildren: "9", KeyMaxRequests: "0",
		KeyWorkers: "1", KeyDebug: "on", KeyConfigCached: "no", KeyRoutesCached: "no", KeyXdebug: "loaded", KeyOPcache: "on",
		KeyOPcacheMemory: "128", KeyJIT: "buffer", KeyProbe: "not asked"}
	same(t, i.Fingerprint(t.Context()), want)
	i.Scripts, i.Temp = &answers{status: 200, body: `{"pool":"shop","process manager":"static","total processes":4}`}, t.TempDir()
	want[KeyManager], want[KeyWorkers] = "static", "4"
	want[KeyProbe] = "answer is not that of the script"
	same(t, i.Fingerprint(t.Context()), want)
}

// same compares what is known.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	maps.DeleteFunc(got, func(_, value string) bool { return value == Unknown })
	if !maps.Equal(got, want) {
		t.Errorf("fingerprint = %v\nwant          %v", got, want)
	}
}

func TestFingerprintOfOctane(t *testing.T) {
	f := octane("roadrunner")
	f.process(11, 10, "rr", "/srv/shop/rr", "-c", ".rr.yaml", "-o", "http.pool.max_jobs=250", "serve")
	f.process(12, 11, "php8.2", "/usr/bin/php8.2", "./vendor/bin/roadrunner-worker")
	f.holds(11, 9, 700)
	f.listens("proc/net", port8000, 700)
	f.link("proc/10/cwd", "/srv/shop")
	f.write("proc/10/root/srv/shop/artisan", "x")
	f.write("proc/10/root/srv/shop/bootstrap/cache/config.php", cachedConfig)
	f.write("proc/12/maps", mappings("/usr/lib/php/20220829/", "opcache.so"))
	tree := f.find(t, "tcp", "127.0.0.1:8000")
	same(t, Inspection{Network: "tcp", Address: "127.0.0.1:8000", Tree: tree}.Fingerprint(t.Context()), map[string]string{
		KeyKind: "roadrunner", KeyPHP: "8.2", KeyWorkers: "1", KeyMaxRequests: "250", KeyXdebug: "off", KeyOPcache: "off", KeyJIT: "off",
		KeyConfigCached: "yes", KeyRoutesCached: "no", KeyEnvironment: "production", KeyDebug: "off", KeySession: "redis",
		KeyCache: "file", KeyQueue: "NULL", KeyDatabase: "mysql", KeyProbe: "not asked"})
}

func TestMaxRequestsOfOctane(t *testing.T) {
	for want, f := range map[string]fake{"500": swoole(), "40": func() fake {
		f := swoole()
		f.write("proc/10/cmdline", "php8.2\x00artisan\x00octane:start\x00--max-requests\x0040\x00")
		return f
	}(), "30": func() fake {
		f := newFake()
		f.process(11, 1, "frankenphp", "frankenphp", "run")
		f.holds(11, 3, 700)
		f.write("proc/11/environ", "MAX_REQUESTS=30\x00")
		return f
	}(), Unknown: func() fake {
		f := newFake()
		f.process(11, 1, "php", "php", "server.php")
		f.holds(11, 3, 700)
		return f
	}()} {
		f.listens("proc/net", port8000, 700)
		i := Inspection{Tree: f.find(t, "tcp", "127.0.0.1:8000")}
		if got := i.Fingerprint(t.Context())[KeyMaxRequests]; got != want {
			t.Errorf("max requests = %q, want %q", got, want)
		}
	}
}

func TestWorkersThatAreThreads(t *testing.T) {
	for want, environ := range map[string]string{"6": "WORKER_COUNT=6\x00", "3": "WORKER_COUNT=\x00"} {
		f := octane("frankenphp")
		f.write("proc/10/cmdline", "php\x00artisan\x00octane:start\x00--workers=3\x00")
		f.process(11, 10, "frankenphp", "frankenphp", "run")
		f.write("proc/11/environ", environ)
		f.holds(11, 4, 700)
		f.listens("proc/net", port8000, 700)
		i := Inspection{Tree: f.find(t, "tcp", "127.0.0.1:8000")}
		if got := i.Fingerprint(t.Context())[KeyWorkers]; got != want {
			t.Errorf("workers = %q, want %q", got, want)
		}
	}
}

func mappings(dir string, extensions ...string) string {
	var b bytes.Buffer
	for _, name := range append(extensions, "tokenizer.so") {
		b.WriteString("7fc3b7180000-7fc3b7183000 r-xp 00000000 fe:00 755933                     " + dir + name + "\n")
	}
	return b.String()
}

// segment is shared memory of so many MiB.
func segment(size int, mode string) string {
	return map[int]string{16: "40000000-41000000 ", 128: "40000000-48000000 "}[size] + mode + " 00000000 00:01 12749    /dev/zero (deleted)\n"
}

func TestWhatMappingsTell(t *testing.T) {
	const debian = "/usr/lib/php/20220829/"
	for name, c := range map[string]struct {
		maps string
		want php
	}{
		"nothing":                        {"", php{}},
		"a program alone":                {"400000-500000 r-xp 00000000 fe:00 1 /usr/bin/php8.2\n", php{version: "8.2"}},
		"OPcache":                        {mappings(debian, "opcache.so") + segment(128, "rw-s"), php{"8.2", "on", "128", "off", "off"}},
		"OPcache switched off":           {mappings(debian, "opcache.so"), php{"8.2", "off", "", "off", "off"}},
		"no OPcache":                     {mappings(debian), php{"8.2", "off", "", "off", "off"}},
		"Swoole's tables":                {mappings(debian, "opcache.so", "swoole.so") + segment(128, "rw-s"), php{"8.2", "", "", "", "off"}},
		"PHP of which OPcache is a part": {mappings("/usr/lib/php/20250925/"), php{"8.5", "", "", "", "off"}},
		"PHP to come":                    {mappings("/usr/lib/php/20991231/"), php{"", "", "", "", "off"}},
	} {
		f := newFake()
		f.write("proc/11/maps", c.maps)
		h, err := f.host().opened()
		if err != nil {
			t.Fatal(err)
		}
		if got := h.readPHP(11); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func FuzzMappings(f *testing.F) {
	f.Add(mappings("/usr/lib/php/20220829/", "opcache.so") + segment(128, "rw-s"))
	f.Add("0-ffffffffffffffff ---s")
	f.Fuzz(func(t *testing.T, text string) {
		var all []mapping
		for line := range strings.Lines(text) {
			if m, ok := parseMapping(line); ok {
				all = append(all, m)
			}
		}
		if p := tellPHP(all); p.jit == "buffer" && p.opcache != "on" {
			t.Errorf("%q: %+v", text, p)
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(told))
	f.Add([]byte(`{"pool":"www","process manager":"dynamic","idle processes":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := parseProbe(body); err == nil && p.PHP == "" {
			t.Errorf("%q: %+v", body, p)
		}
		if s, err := parseFPMStatus(body); err == nil && (s.Idle < 0 || s.Pool == "") {
			t.Errorf("%q: %+v", body, s)
		}
	})
}
