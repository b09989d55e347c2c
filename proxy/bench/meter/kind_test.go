package meter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// octane adds the artisan command that starts a server, below a shell.
func octane(server string) fake {
	f := newFake()
	f.process(5, 1, "bash", "bash")
	f.process(10, 5, "php8.2", "php8.2", "artisan", "octane:start", "--server="+server)
	return f
}

func TestTreesOfOctane(t *testing.T) {
	for name, c := range map[string]struct {
		fill      func() fake
		kind      Kind
		processes []int
		workers   int
	}{
		"swoole": {swoole, KindSwoole, []int{10, 11, 12, 13, 14, 15}, 2},
		"swoole without titles": {func() fake {
			f := swoole()
			for _, pid := range []int{11, 12, 13, 14, 15} {
				f.write(procDir(pid)+"/cmdline", "/usr/bin/php8.2\x00swoole-server\x00/srv/storage/logs/octane-server-state.json\x00")
			}
			return f
		}, KindSwoole, []int{10, 11, 12, 13, 14, 15}, 3}, // workers for tasks look the same
		"roadrunner": {func() fake {
			f := octane("roadrunner")
			f.process(11, 10, "rr", "/srv/rr", "-c", ".rr.yaml", "-o", "http.pool.max_jobs=250", "serve")
			f.process(12, 11, "php8.2", "/usr/bin/php8.2", "./vendor/bin/roadrunner-worker")
			f.process(13, 11, "php8.2", "/usr/bin/php8.2", "./vendor/bin/roadrunner-worker")
			f.holds(11, 9, 700)
			return f
		}, KindRoadRunner, []int{10, 11, 12, 13}, 2},
		"frankenphp": {func() fake {
			f := octane("frankenphp")
			f.process(11, 10, "frankenphp", "/srv/frankenphp", "run", "-c", "Caddyfile")
			f.holds(11, 4, 700)
			return f
		}, KindFrankenPHP, []int{10, 11}, 0},
		"two processes on one port": {func() fake {
			f := newFake()
			f.process(11, 1, "node", "node", "a.js")
			f.process(12, 1, "node", "node", "a.js")
			f.holds(11, 4, 700)
			f.holds(12, 4, 701)
			f.listens("proc/net", port8000, 701)
			return f
		}, KindProcess, []int{11, 12}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.fill()
			f.listens("proc/net", port8000, 700)
			f.process(20, 1, "other", "other")
			tree := f.find(t, "tcp", "127.0.0.1:8000")
			pids, err := tree.Pids()
			u, err2 := tree.ReadCPU()
			if err != nil || err2 != nil || tree.Kind != c.kind || !slices.Equal(pids, c.processes) || u.Workers != c.workers {
				t.Errorf("%s %d with %d workers, %v %v; want %s %d with %d", tree.Kind, pids, u.Workers, err, err2, c.kind, c.processes, c.workers)
			}
			if want := time.Duration(len(pids)) * 3 * tick; u.CPU != want {
				t.Errorf("CPU = %v, want %v", u.CPU, want)
			}
		})
	}
}

func swoole() fake {
	f := octane("swoole")
	for i, title := range []string{"master process", "manager process", "worker process", "worker process", "task worker process"} {
		pid := 11 + i
		f.process(pid, min(pid-1, 12), "php8.2", "swoole_http_server: "+title+" for Shop", "")
		f.holds(pid, 7, 700)
	}
	return f
}

func TestNobodySpeaksForAnother(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(fake)
		want string
	}{
		"a proxy of Docker": {func(f fake) {
			f.process(11, 1, "docker-proxy", "/usr/bin/docker-proxy")
			f.holds(11, 4, 700)
		}, "container's own address"},
		"systemd before the first request": {func(f fake) {
			f.process(1, 0, "systemd", "/sbin/init")
			f.holds(1, 30, 700)
		}, "has not started the service yet"},
		"somebody who may not be seen": {func(f fake) {
			f.process(11, 1, "secret")
			f.holds(11, 4, 701)
		}, "no process found"},
	} {
		f := newFake()
		c.fill(f)
		f.listens("proc/net", port8000, 700)
		if tree, err := f.host().FindByAddress("tcp", "127.0.0.1:8000"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, tree, err, c.want)
		}
	}
}

func TestServiceWhoseSocketSystemdOpened(t *testing.T) {
	f := newFake()
	f.process(1, 0, "systemd", "/sbin/init")
	f.process(11, 1, "app", "app")
	f.process(12, 1, "other", "other")
	f.holds(1, 30, 700)
	f.holds(11, 3, 700)
	f.listens("proc/net", port8000, 700)
	if pids, err := f.find(t, "tcp", "127.0.0.1:8000").Pids(); err != nil || !slices.Equal(pids, []int{11}) {
		t.Errorf("processes = %d, %v; want the service's", pids, err)
	}
}

// TestBackendInContainer: it listens on all addresses of a namespace that has the one asked for.
func TestBackendInContainer(t *testing.T) {
	f := newFake()
	for pid, address := range map[int]string{21: "172.17.0.2", 31: "172.17.0.3"} {
		f.process(pid, 1, "rr", "rr", "serve")
		f.link(procDir(pid)+"/ns/net", fmt.Sprintf("net:[%d]", pid))
		dir := procDir(pid) + "/net"
		f.write(dir+"/unix", "Num\n")
		f.write(dir+"/tcp", "sl\n")
		f.listens(dir, "00000000:1F40", pid*100)
		f.write(dir+"/fib_trie", "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- "+address+"\n        /16 link UNICAST\nLocal:\n     |-- "+address+"\n        /32 host LOCAL\n")
		f.holds(pid, 6, pid*100)
	}
	for addr, pid := range map[string]int{"172.17.0.2:8000": 21, "172.17.0.3:8000": 31} {
		if tree := f.find(t, "tcp", addr); tree.Pid() != pid {
			t.Errorf("%s: process %d, want %d", addr, tree.Pid(), pid)
		}
	}
	if tree, err := f.host().FindByAddress("tcp", "127.0.0.1:8000"); err == nil {
		t.Errorf("our own address: process %d, want none", tree.Pid())
	}
}
