package meter

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// laravel is an application's folder. What is asked of it is what the application does, as far as it can be known:
// Laravel takes a cached configuration before the environment of its process, and that before its .env file.
type laravel struct {
	h           *host
	dir         string            // below the root; empty when it is not known
	environment map[string]string // of the processes, as far as it is known
}

// drivers are the settings of a fingerprint, the place of each in Laravel's configuration, and the variables by which
// the environment sets it: of two, the first is that of newer versions.
var drivers = map[string]struct {
	config    string
	variables []string
}{
	KeyEnvironment: {"app.env", []string{"APP_ENV"}},
	KeyDebug:       {"app.debug", []string{"APP_DEBUG"}},
	KeySession:     {"session.driver", []string{"SESSION_DRIVER"}},
	KeyCache:       {"cache.default", []string{"CACHE_STORE", "CACHE_DRIVER"}},
	KeyQueue:       {"queue.default", []string{"QUEUE_CONNECTION"}},
	KeyDatabase:    {"database.default", []string{"DB_CONNECTION"}},
}

// environmentNames are all that is ever looked at in an environment: there are passwords in it.
var environmentNames = []string{
	"APP_ENV", "APP_DEBUG", "APP_CONFIG_CACHE", "APP_ROUTES_CACHE", "SESSION_DRIVER", "CACHE_STORE", "CACHE_DRIVER",
	"QUEUE_CONNECTION", "DB_CONNECTION", "MAX_REQUESTS", "WORKER_COUNT",
}

// describe fills in what the application's settings are. Unless it is known whether there is a cached configuration,
// nothing else is.
func (l laravel) describe(fingerprint map[string]string) {
	_, fingerprint[KeyRoutesCached] = l.cached("APP_ROUTES_CACHE", "routes-*.php")
	file, cached := l.cached("APP_CONFIG_CACHE", "config.php")
	fingerprint[KeyConfigCached] = cached
	switch cached {
	case "yes":
		l.fromConfig(file, fingerprint)
	case "no":
		l.fromEnvironment(fingerprint)
	}
}

// fromEnvironment takes what the environment sets. What it does not set has a default in the application's code.
func (l laravel) fromEnvironment(fingerprint map[string]string) {
	values := l.withFile()
	for key, setting := range drivers {
		for _, variable := range setting.variables {
			if value, ok := values[variable]; ok {
				fingerprint[key] = value
				break
			}
		}
	}
	if debug, ok := values["APP_DEBUG"]; ok {
		fingerprint[KeyDebug] = truth(debug)
	}
}

// fromConfig takes the values of a cached configuration.
func (l laravel) fromConfig(file string, fingerprint map[string]string) {
	text, err := l.h.text(file)
	if err != nil {
		return
	}
	names := map[string]string{}
	for key, setting := range drivers {
		names[setting.config] = key
	}
	for name, value := range configValues(text, func(path string) bool { return names[path] != "" }) {
		fingerprint[names[name]] = value
		if names[name] == KeyDebug {
			fingerprint[KeyDebug] = truth(value)
		}
	}
}

// cached says whether a cache is there: yes, no or Unknown. The environment may name another file than the usual one.
func (l laravel) cached(variable, usual string) (file, is string) {
	if l.dir == "" {
		return "", Unknown
	}
	pattern := path.Join(l.dir, "bootstrap/cache", usual)
	if name := l.environment[variable]; name != "" {
		if path.IsAbs(name) {
			return "", Unknown // as the process sees it, which may be in a container
		}
		pattern = path.Join(l.dir, name)
	}
	if files, _ := fs.Glob(l.h.root, pattern); len(files) > 0 {
		return files[0], "yes"
	}
	if !l.h.exists(path.Dir(pattern)) {
		return "", Unknown
	}
	return "", "no"
}

// withFile returns the environment with what .env adds to it. Where APP_ENV is set, .env.production and the like come
// before .env.
func (l laravel) withFile() map[string]string {
	text, err := l.h.text(l.dir + "/.env." + l.environment["APP_ENV"])
	if err != nil || l.environment["APP_ENV"] == "" {
		text, _ = l.h.text(l.dir + "/.env")
	}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := parseVariable(line); ok {
			values[name] = value
		}
	}
	maps.Copy(values, l.environment)
	return values
}

// parseVariable reads a line of .env, if it is of a variable that we may look at and has a plain value.
func parseVariable(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !isEnvironmentName(name) || strings.Contains(value, "${") {
		return "", "", false
	}
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		value, _, ok = strings.Cut(value[1:], value[:1])
		return name, value, ok
	}
	value, _, _ = strings.Cut(" "+value, " #")
	return name, strings.TrimSpace(value), true
}

func isEnvironmentName(name string) bool { return slices.Contains(environmentNames, name) }

// truth is what Laravel takes APP_DEBUG for.
func truth(value string) string {
	switch strings.ToLower(value) {
	case "", "0", "false", "(false)", "null", "(null)", "empty", "(empty)":
		return "off"
	}
	return "on"
}
