package meter

import (
	"context"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
)

// The keys of a fingerprint. A value is Unknown where nothing tells it.
const (
	KeyKind            = "kind" // of the tree: fpm, swoole, ...
	KeyPHP             = "php"  // version, of two numbers where only the processes tell it
	KeySAPI            = "sapi"
	KeyOPcache         = "opcache"          // on or off
	KeyOPcacheMemory   = "opcache_memory"   // MiB
	KeyOPcacheValidate = "opcache_validate" // on or off: whether files are looked at for changes
	KeyJIT             = "jit"              // on or off, or buffer: there is one, in use or not
	KeyXdebug          = "xdebug"           // off, or loaded and how
	KeyDebug           = "debug"            // on or off: APP_DEBUG
	KeyEnvironment     = "environment"      // APP_ENV
	KeyConfigCached    = "config_cached"    // yes or no
	KeyRoutesCached    = "routes_cached"    // yes or no
	KeySession         = "session"          // driver
	KeyCache           = "cache"            // driver
	KeyQueue           = "queue"            // driver
	KeyDatabase        = "database"         // connection
	KeyWorkers         = "workers"          // how many there are
	KeyMaxRequests     = "max_requests"     // after which a worker is replaced; 0 is never
	KeyManager         = "pm"               // FPM's: static, dynamic or ondemand
	KeyMaxChildren     = "max_children"     // FPM's
	KeyCPULimit        = "cpu_limit"        // see Limits
	KeyCPUSet          = "cpuset"           // see Limits
	KeyMemoryLimit     = "memory_limit"     // see Limits
	KeyProbe           = "probe"            // answered, or why the script was not run
)

// Inspection is what a fingerprint is taken of.
type Inspection struct {
	Network, Address string // of the backend: "unix" and a path, or "tcp" and host:port
	// Tree is what is behind it; nil when that was not found.
	Tree *Tree
	// Scripts speaks FastCGI to the backend and has it run the file that the URL's path names. Nil means that nothing is
	// asked. A script is written into a temporary folder for that, and only where the backend is on loopback or a unix
	// socket; give one only to those who asked for a measurement.
	Scripts http.RoundTripper
	// Temp is where that folder is made; empty means that of the system.
	Temp string
	// Application is the folder of the Laravel application. Empty means that of Octane's process, if it is Octane.
	Application string
}

// Fingerprint says what is behind an arm. All keys are there.
func (i Inspection) Fingerprint(ctx context.Context) map[string]string {
	f := map[string]string{KeyProbe: "not asked"}
	for _, key := range []string{KeyKind, KeyPHP, KeySAPI, KeyOPcache, KeyOPcacheMemory, KeyOPcacheValidate, KeyJIT, KeyXdebug,
		KeyDebug, KeyEnvironment, KeyConfigCached, KeyRoutesCached, KeySession, KeyCache, KeyQueue, KeyDatabase, KeyWorkers,
		KeyMaxRequests, KeyManager, KeyMaxChildren, KeyCPULimit, KeyCPUSet, KeyMemoryLimit} {
		f[key] = Unknown
	}
	// The folder of the application can be looked into on any system.
	files := &host{root: os.DirFS("/")}
	var environment map[string]string
	if i.Tree != nil {
		files, environment = i.Tree.h, i.Tree.environment()
		i.processes(f)
	}
	if i.Scripts != nil {
		if told := i.ask(ctx, f); told != nil {
			environment = told
		}
	}
	laravel{files, i.application(), environment}.describe(f)
	return f
}

// processes fills in what can be seen from outside.
func (i Inspection) processes(f map[string]string) {
	t := i.Tree
	f[KeyKind] = string(t.Kind)
	l := t.Limits()
	f[KeyCPULimit], f[KeyCPUSet], f[KeyMemoryLimit] = l.CPU, l.CPUSet, l.Memory
	s, err := t.look()
	if err != nil {
		return
	}
	f[KeyMaxRequests], f[KeyWorkers] = t.maxRequests(s.processes), t.workerCount(s)
	if t.Kind == KindFPM {
		settings, _ := t.settings()
		f[KeyManager], f[KeyMaxChildren] = known(settings["pm"]), known(settings["pm.max_children"])
	}
	p := t.h.readPHP(t.phpProcess(s))
	f[KeyPHP], f[KeyOPcache], f[KeyOPcacheMemory] = known(p.version), known(p.opcache), known(p.opcacheMemory)
	f[KeyJIT], f[KeyXdebug] = known(p.jit), known(p.xdebug)
}

// phpProcess is one that runs PHP: a worker where workers are processes.
func (t *Tree) phpProcess(s snapshot) int {
	if len(s.workers) > 0 {
		return s.workers[0].pid
	}
	return t.listener()
}

// ask has the backend tell of itself, and returns the environment that PHP has there.
func (i Inspection) ask(ctx context.Context, f map[string]string) map[string]string {
	if !isHere(i.Network, i.Address) {
		f[KeyProbe] = "not run on another machine"
		return nil
	}
	if i.Tree != nil {
		i.askStatus(ctx, f)
	}
	p, err := runProbe(ctx, i.Scripts, i.Temp)
	if err != nil {
		f[KeyProbe] = err.Error()
		return nil
	}
	f[KeyProbe] = "answered"
	f[KeyPHP], f[KeySAPI], f[KeyXdebug] = p.PHP, p.SAPI, known(p.Xdebug)
	f[KeyOPcache], f[KeyJIT], f[KeyOPcacheValidate] = known(p.OPcache), known(p.JIT), known(p.OPcacheValidate)
	f[KeyOPcacheMemory] = known(p.OPcacheMemory)
	return p.Environment
}

// askStatus asks for FPM's page, which knows the pool as it is and not as its file is now.
func (i Inspection) askStatus(ctx context.Context, f map[string]string) {
	settings, _ := i.Tree.settings()
	page := settings["pm.status_path"]
	if page == "" {
		return
	}
	if s, err := ReadFPMStatus(ctx, i.Scripts, page); err == nil {
		f[KeyManager], f[KeyWorkers] = known(s.Manager), strconv.FormatInt(s.Processes, 10)
	}
}

// environment is that of the backend's processes as far as the outside can tell.
func (t *Tree) environment() map[string]string {
	if t.Kind != KindFPM {
		return t.h.environ(t.listener())
	}
	// FPM clears the environment of its children, and gives them what its configuration says.
	settings, _ := t.settings()
	values := map[string]string{}
	for _, name := range environmentNames {
		if value, ok := settings["env["+name+"]"]; ok && !strings.HasPrefix(value, "$") {
			values[name] = value
		}
	}
	return values
}

// settings are those of the tree's pool in FPM's configuration; false when they cannot be read.
func (t *Tree) settings() (map[string]string, bool) {
	for _, p := range t.h.fpmPools(t.Pid()) {
		if p.Name == t.Pool && p.Name != "" {
			return p.settings, true
		}
	}
	return nil, false
}

// application is the folder to look into, below the root.
func (i Inspection) application() string {
	if i.Application != "" {
		return strings.TrimPrefix(path.Clean(i.Application), "/")
	}
	if i.Tree == nil {
		return ""
	}
	for _, pid := range []int{i.Tree.Pid(), i.Tree.listener()} {
		if dir := i.Tree.h.applicationOf(pid); dir != "" {
			return dir
		}
	}
	return ""
}
