package meter

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const cachedConfig = `<?php return array (
  'app' =>
  array (
    'name' => 'O\'Neill\'s (shop)',
    'env' => 'production',
    'debug' => false,
    'key' => 'base64:secret',
    'list' => array (0 => 'app.debug', 1 => 7,),
  ),
  'session' => array ('driver' => 'redis', 'lifetime' => 120),
  'cache' => array ('default' => 'file', 'stores' => array ('file' => array ('driver' => 'file'))),
  'queue' => array ('default' => NULL),
  'odd' => \Some\Value::__set_state(array('default' => 'none')),
  'database' => array ('default' => 'mysql', 'connections' => array ('mysql' => array ('password' => 'secret'))),
);
`

func TestApplicationSettings(t *testing.T) {
	const dotEnv = "APP_ENV=local\nexport APP_DEBUG=true # here\nDB_CONNECTION='pgsql' # there\nDB_PASSWORD=secret\n" +
		"SESSION_DRIVER=\"${DRIVER}\"\nCACHE_DRIVER=array\n"
	for name, c := range map[string]struct {
		files       map[string]string
		environment map[string]string
		want        map[string]string // besides Unknown
	}{
		"nothing there": {},
		"folder of caches missing": {
			files: map[string]string{".env": dotEnv},
		},
		"cached": {
			files: map[string]string{"bootstrap/cache/config.php": cachedConfig, "bootstrap/cache/routes-v7.php": "x", ".env": dotEnv},
			want: map[string]string{KeyConfigCached: "yes", KeyRoutesCached: "yes", KeyEnvironment: "production", KeyDebug: "off",
				KeySession: "redis", KeyCache: "file", KeyQueue: "NULL", KeyDatabase: "mysql"},
		},
		"from .env": {
			files: map[string]string{"bootstrap/cache/services.php": "x", ".env": dotEnv},
			want: map[string]string{KeyConfigCached: "no", KeyRoutesCached: "no", KeyEnvironment: "local", KeyDebug: "on",
				KeyDatabase: "pgsql", KeyCache: "array"},
		},
		"the process's environment first": {
			files:       map[string]string{"bootstrap/cache/services.php": "x", ".env": dotEnv, ".env.testing": "CACHE_STORE=database\n"},
			environment: map[string]string{"APP_ENV": "testing", "APP_DEBUG": "0"},
			want: map[string]string{KeyConfigCached: "no", KeyRoutesCached: "no", KeyEnvironment: "testing", KeyDebug: "off",
				KeyCache: "database"},
		},
		"caches elsewhere": {
			files:       map[string]string{"tmp/c.php": cachedConfig, "bootstrap/cache/services.php": "x"},
			environment: map[string]string{"APP_CONFIG_CACHE": "tmp/c.php", "APP_ROUTES_CACHE": "/var/routes.php"},
			want: map[string]string{KeyConfigCached: "yes", KeyEnvironment: "production", KeyDebug: "off", KeySession: "redis",
				KeyCache: "file", KeyQueue: "NULL", KeyDatabase: "mysql"},
		},
	} {
		f := newFake()
		for file, text := range c.files {
			f.write("srv/shop/"+file, text)
		}
		h, err := f.host().opened()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		laravel{h, "srv/shop", c.environment}.describe(got)
		maps.DeleteFunc(got, func(_, value string) bool { return value == Unknown })
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestEnvironmentKeepsNoSecrets(t *testing.T) {
	f := newFake()
	f.process(11, 1, "php", "php", "artisan", "octane:start")
	f.write("proc/11/environ", "DB_PASSWORD=secret\x00APP_KEY=secret\x00APP_ENV=production\x00")
	h, err := f.host().opened()
	if err != nil {
		t.Fatal(err)
	}
	if got := h.environ(11); !maps.Equal(got, map[string]string{"APP_ENV": "production"}) {
		t.Errorf("environment = %v", got)
	}
	for _, name := range environmentNames {
		if strings.Contains(name, "KEY") || strings.Contains(name, "PASSWORD") || strings.Contains(name, "URL") {
			t.Errorf("%s may hold a secret", name)
		}
		if name != "MAX_REQUESTS" && name != "WORKER_COUNT" && !strings.Contains(string(probeScript), "'"+name+"'") {
			t.Errorf("the script does not tell %s", name)
		}
	}
	for _, values := range []map[string]string{configValues(cachedConfig, func(string) bool { return false })} {
		if len(values) > 0 {
			t.Errorf("kept %v", slices.Collect(maps.Keys(values)))
		}
	}
}

func FuzzConfigValues(f *testing.F) {
	f.Add(cachedConfig)
	f.Add("))(( 'a' => '\\")
	f.Fuzz(func(t *testing.T, text string) {
		for path, value := range configValues(text, func(path string) bool { return strings.HasSuffix(path, "default") }) {
			if !strings.HasSuffix(path, "default") || len(value) > len(text) {
				t.Errorf("%q: %q = %q", text, path, value)
			}
		}
	})
}

func FuzzParseVariable(f *testing.F) {
	f.Add("export APP_ENV = \"local\" # here\n")
	f.Add("APP_DEBUG='")
	f.Fuzz(func(t *testing.T, line string) {
		if name, value, ok := parseVariable(line); ok && (!isEnvironmentName(name) || strings.Contains(value, "${")) {
			t.Errorf("%q: %q = %q", line, name, value)
		}
	})
}
