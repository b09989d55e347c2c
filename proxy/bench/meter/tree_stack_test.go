//go:build stack

package meter

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gateway/fastcgi"
	"gateway/testdata/stack"
)

// scripts speaks FastCGI to a pool, and has it run the file that the URL's path names.
type scripts struct{ *fastcgi.Transport }

func (s scripts) RoundTrip(r *http.Request) (*http.Response, error) {
	env := &fastcgi.Env{Script: r.URL.Path, RequestURI: r.URL.RequestURI(), ServerName: "127.0.0.1", ServerPort: "80", RemoteAddr: "127.0.0.1"}
	return s.Transport.RoundTrip(r.WithContext(fastcgi.WithEnv(r.Context(), env)))
}

func newScripts(t *testing.T, network, address string) scripts {
	t.Helper()
	transport, err := fastcgi.New(fastcgi.Config{Network: network, Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	return scripts{transport}
}

// application has a pool run Laravel's front controller for any path.
type application struct{ *fastcgi.Transport }

func (a application) RoundTrip(r *http.Request) (*http.Response, error) {
	root, err := filepath.Abs("../../../testdata/laravel/public")
	if err != nil {
		return nil, err
	}
	env := &fastcgi.Env{Root: root, ServerName: "127.0.0.1", ServerPort: "80", RemoteAddr: "127.0.0.1"}
	return a.Transport.RoundTrip(r.WithContext(fastcgi.WithEnv(r.Context(), env)))
}

func ask(t *testing.T, client http.RoundTripper, base, path string, times int) {
	t.Helper()
	for range times {
		r, err := http.NewRequest("GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Close = true
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", path, resp.StatusCode)
		}
	}
}

// backend is a real one as a test sees it.
type backend struct {
	network, addr string
	kind          Kind
	pid, workers  int
	processes     []int
	ask           func(times int)
}

func theFPM(t *testing.T, cfg stack.FPMConfig) (backend, *stack.Pool) {
	pool := stack.FPM(t, cfg)
	b := backend{network: "unix", addr: pool.Socket, kind: KindFPM, pid: pool.Pid(), workers: 3}
	if cfg.TCP {
		b.network, b.addr = "tcp", pool.TCPAddr
	}
	b.processes = append(children(t, pool), pool.Pid())
	client := application{newScripts(t, b.network, b.addr).Transport}
	b.ask = func(times int) { ask(t, client, "http://127.0.0.1", "/api/users", times) }
	return b, pool
}

// children waits until all those of a pool have put themselves down in its status page.
func children(t *testing.T, pool *stack.Pool) []int {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s := pool.Status(t)
		var pids []int
		for _, child := range s.Processes {
			if child.Pid > 0 {
				pids = append(pids, child.Pid)
			}
		}
		if len(pids) == 3 || s.ProcessManager != "static" && len(pids) > 0 {
			return pids
		}
		if time.Now().After(deadline) {
			t.Fatalf("children of %s: %+v", pool.Address(), s)
		}
	}
}

func theServer(t *testing.T, server *stack.Backend, kind Kind, workers int) backend {
	client := &http.Transport{DisableKeepAlives: true}
	return backend{network: "tcp", addr: server.Addr, kind: kind, pid: server.Pid(), workers: workers,
		processes: append([]int{server.Pid()}, server.Workers(t)...),
		ask:       func(times int) { ask(t, client, server.URL, "/api/users", times) }}
}

func TestRealTrees(t *testing.T) {
	for name, start := range map[string]func(*testing.T) backend{
		"fpm": func(t *testing.T) backend { b, _ := theFPM(t, stack.FPMConfig{Children: 3}); return b },
		"fpm on TCP": func(t *testing.T) backend {
			b, _ := theFPM(t, stack.FPMConfig{Children: 3, TCP: true})
			return b
		},
		"resident":   func(t *testing.T) backend { return theServer(t, stack.Resident(t, 2), KindPHP, 2) },
		"frankenphp": func(t *testing.T) backend { return theServer(t, stack.FrankenPHP(t), KindFrankenPHP, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			tree, err := FindByAddress(b.network, b.addr)
			if err != nil {
				t.Fatal(err)
			}
			b.isTree(t, tree)
			b.isUsage(t, tree)
		})
	}
}

func (b backend) isTree(t *testing.T, tree *Tree) {
	t.Helper()
	pids, err := tree.Pids()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(pids)
	slices.Sort(b.processes)
	if tree.Kind != b.kind || tree.Pid() != b.pid || !slices.Equal(pids, b.processes) {
		t.Errorf("a tree of kind %s from %d: %d; want %s from %d: %d", tree.Kind, tree.Pid(), pids, b.kind, b.pid, b.processes)
	}
}

func (b backend) isUsage(t *testing.T, tree *Tree) {
	t.Helper()
	b.ask(1)
	before, err := tree.Read()
	if err != nil {
		t.Fatal(err)
	}
	ticks := treeTicks(t, b.processes)
	b.ask(40)
	after, err := tree.Read()
	if err != nil {
		t.Fatal(err)
	}
	u := after.Since(before)
	kernels := treeTicks(t, b.processes) - ticks
	// Each of the kernel's own sums is cut off at a hundredth of a second, for each process twice.
	room := 20 * time.Millisecond * time.Duration(len(b.processes))
	if u.CPU <= 0 || u.CPU > kernels+room || u.CPU < kernels-room {
		t.Errorf("CPU = %v, want %v more or less", u.CPU, kernels)
	}
	if sum := sumOfMaps(t, b.processes); float64(u.PSS) < 0.95*float64(sum) || float64(u.PSS) > 1.05*float64(sum) {
		t.Errorf("PSS = %d, want %d more or less", u.PSS, sum)
	}
	if u.RSS < u.PSS || u.PSSAnon+u.PSSShmem > u.PSS || u.PSSAnon == 0 {
		t.Errorf("memory = %+v", u.Memory)
	}
	if u.Workers != b.workers || u.Processes != len(b.processes) || u.Restarts != 0 || u.Source == "" {
		t.Errorf("%d workers of %d processes, %d restarts; want %d of %d, 0", u.Workers, u.Processes, u.Restarts, b.workers, len(b.processes))
	}
}

// treeTicks adds up what the stat files say.
func treeTicks(t *testing.T, pids []int) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(b[strings.LastIndex(string(b), ")"):]))
		for _, i := range []int{12, 13} {
			n, err := strconv.Atoi(fields[i])
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

// sumOfMaps adds up the PSS of every mapping, which is another file than the sum is read from.
func sumOfMaps(t *testing.T, pids []int) (sum int64) {
	t.Helper()
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var n int64
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &n); err == nil {
				sum += n << 10
			}
		}
	}
	return sum
}

func TestRestartedWorkersAreSeen(t *testing.T) {
	b, pool := theFPM(t, stack.FPMConfig{Children: 3})
	server := stack.Resident(t, 2)
	for _, c := range []struct {
		backend
		kill func()
	}{
		{b, func() { pool.KillWorker(t) }},
		{theServer(t, server, KindPHP, 2), func() { server.KillWorker(t) }},
	} {
		tree, err := FindByAddress(c.network, c.addr)
		if err != nil {
			t.Fatal(err)
		}
		c.ask(10)
		before, err := tree.Read()
		if err != nil {
			t.Fatal(err)
		}
		c.kill()
		u := await(t, tree, func(now Usage) bool { d := now.Since(before); return d.Ended == 1 && d.Started == 1 }).Since(before)
		if u.Restarts != 1 || u.Workers != c.workers {
			t.Errorf("%s: %d restarts, %d workers; want 1, %d", c.addr, u.Restarts, u.Workers, c.workers)
		}
	}
}

// FPM starts itself anew in the same process, so that the tree stays and all its workers are others.
func TestReloadedPoolIsTheSameTree(t *testing.T) {
	_, pool := theFPM(t, stack.FPMConfig{Children: 3})
	tree, err := FindByAddress("unix", pool.Socket)
	if err != nil {
		t.Fatal(err)
	}
	before, err := tree.Read()
	if err != nil {
		t.Fatal(err)
	}
	pool.Reload(t)
	u := await(t, tree, func(now Usage) bool { d := now.Since(before); return d.Ended == 3 && d.Started == 3 })
	if u.Workers != 3 || u.Processes != 4 {
		t.Errorf("%d workers of %d processes, want 3 of 4", u.Workers, u.Processes)
	}
	pool.Stop()
	if _, err := tree.Read(); !errors.Is(err, ErrGone) {
		t.Errorf("error after the end = %v, want ErrGone", err)
	}
}
