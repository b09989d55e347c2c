package stack

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Backend is an HTTP backend that keeps the application in memory, as Octane does.
type Backend struct {
	*service
	Addr string // host:port
	URL  string // http://host:port
}

// Resident starts the resident PHP server with so many workers: one request at a time each, connections kept
// alive, an upload held in memory. A worker that dies closes its connections without an answer and is replaced.
func Resident(t T, workers int) *Backend {
	t.Helper()
	a := App(t)
	php := program(t, a, "php8.2")
	return startBackend(t, a, "resident", func(addr string) []string {
		return []string{php, "-d", "opcache.enable_cli=1", "-d", "post_max_size=2G", filepath.Join(a.Source, "resident/server.php"),
			"--listen=" + addr, "--workers=" + strconv.Itoa(workers)}
	})
}

// FrankenPHP starts FrankenPHP with one worker: Debian's PHP is not thread-safe, so that a process has one thread
// of PHP. A script that kills its process takes the whole server with it.
func FrankenPHP(t T) *Backend {
	t.Helper()
	a := App(t)
	binary := program(t, a, "frankenphp")
	return startBackend(t, a, "frankenphp", func(addr string) []string {
		return []string{binary, "--listen", addr, "--worker", filepath.Join(a.Source, "frankenphp/worker.php")}
	})
}

func startBackend(t T, a *Application, kind string, argv func(addr string) []string) *Backend {
	t.Helper()
	b := &Backend{}
	start(t, 1, func(addrs []string) *service {
		name := a.name(kind)
		b.Addr, b.URL = addrs[0], "http://"+addrs[0]
		b.service = &service{name: name, argv: argv(b.Addr), env: a.environment(),
			log: filepath.Join(a.Var, name+".log"), ready: func() error { return answers(b.URL + "/api/ping") }}
		return b.service
	})
	return b
}

// answers is nil once url is answered with 200.
func answers(url string) error {
	// A fresh transport: a connection kept by the default one would hold a worker.
	client := http.Client{Timeout: stopWithin, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// Workers returns the pids of the processes that handle requests, of a resident server.
func (b *Backend) Workers(t T) []int {
	t.Helper()
	pid := b.Pid()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatalf("workers of %s: %v", b.name, err)
	}
	var pids []int
	for _, field := range strings.Fields(string(list)) {
		if n, err := strconv.Atoi(field); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// KillWorker ends a worker of a resident server with SIGKILL and returns its pid. The server starts another.
func (b *Backend) KillWorker(t T) int {
	t.Helper()
	workers := b.Workers(t)
	if len(workers) == 0 {
		t.Fatalf("%s has no worker to kill", b.name)
	}
	if err := syscall.Kill(workers[0], syscall.SIGKILL); err != nil {
		t.Fatalf("kill worker %d of %s: %v", workers[0], b.name, err)
	}
	return workers[0]
}

// Reload replaces the workers of a resident server one by one, each after the request in hand (octane:reload).
func (b *Backend) Reload(t T) {
	t.Helper()
	if err := syscall.Kill(b.Pid(), syscall.SIGHUP); err != nil {
		t.Fatalf("reload %s: %v", b.name, err)
	}
}
