//go:build stack

package stack

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPoolKinds(t *testing.T) {
	for _, pm := range []string{"static", "dynamic", "ondemand"} {
		t.Run(pm, func(t *testing.T) {
			s := FPM(t, FPMConfig{PM: pm, Children: 3, Backlog: 7, TCP: true}).Status(t)
			if s.ProcessManager != pm || s.ListenQueueLen != 7 {
				t.Errorf("pm %s with backlog %d, want %s with 7", s.ProcessManager, s.ListenQueueLen, pm)
			}
		})
	}
}

func TestPoolKillWorker(t *testing.T) {
	p := FPM(t, FPMConfig{Children: 2})
	pid := p.KillWorker(t)
	poll(t, "another child", func() bool {
		processes := p.Status(t).Processes
		return len(processes) == 2 && !slices.ContainsFunc(processes, func(c Process) bool { return c.Pid == pid })
	})
}

func TestPoolReloadKeepsPidAndSocket(t *testing.T) {
	p := FPM(t, FPMConfig{Children: 1})
	pid, child := p.Pid(), p.Status(t).Processes[0].Pid
	p.Reload(t)
	if p.Pid() != pid || p.ping() != nil || p.Status(t).Processes[0].Pid == child {
		t.Errorf("pid %d was %d, ping %v, child was %d, now %+v", p.Pid(), pid, p.ping(), child, p.Status(t).Processes)
	}
}

func TestPoolStopAndStart(t *testing.T) {
	p := FPM(t, FPMConfig{Children: 1})
	p.Stop()
	if p.ping() == nil {
		t.Error("a stopped pool answers")
	}
	p.Start(t)
	if err := p.ping(); err != nil {
		t.Error(err)
	}
}

func TestStatusWhileEveryChildIsBusy(t *testing.T) {
	p := FPM(t, FPMConfig{Children: 1, TerminateTimeout: 2 * time.Second})
	a := newAsker(t, Nginx(t, NginxConfig{FPM: p.Address()}).LaravelURL)
	status := make(chan int)
	go func() {
		resp, err := a.client.Get(a.url + "/api/slow/60000")
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	poll(t, "busy child", func() bool {
		s := p.Status(t)
		return s.ActiveProcesses == 1 && strings.HasPrefix(s.Processes[0].RequestURI, "/api/slow/") || s.IdleProcesses == 0
	})
	if got := <-status; got != http.StatusBadGateway {
		t.Errorf("status of a script beyond its time = %d, want 502", got)
	}
}

func TestEnvironmentAndINIReachScripts(t *testing.T) {
	p := FPM(t, FPMConfig{Children: 1, Env: map[string]string{"APP_DEBUG": "1"}, INI: map[string]string{"post_max_size": "1K"}})
	a := newAsker(t, Nginx(t, NginxConfig{FPM: p.Address()}).LaravelURL)
	if r := a.status("GET", "/boom", 500); !strings.Contains(r.body, "RuntimeException") {
		t.Error("APP_DEBUG=1 shows no exception")
	}
	r := a.do("POST", "/api/sink", http.Header{"Content-Type": {"text/plain"}}, strings.NewReader(strings.Repeat("x", 2048)))
	if r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status beyond post_max_size = %d, want 413", r.StatusCode)
	}
}

func TestResidentWorkers(t *testing.T) {
	b := Resident(t, 2)
	fresh := func(old []int) func() bool {
		return func() bool {
			now := b.Workers(t)
			return len(now) == 2 && !slices.ContainsFunc(now, func(pid int) bool { return slices.Contains(old, pid) })
		}
	}
	b.Reload(t)
	poll(t, "two new workers", fresh(b.Workers(t)))
	pid := b.KillWorker(t)
	poll(t, "another worker", fresh([]int{pid}))
	b.Kill()
	if answers(b.URL+"/api/ping") == nil {
		t.Error("a killed server answers")
	}
	b.Start(t)
}

// TestDeadWorkers: what a client sees of a worker that dies, and of one that ends in good order.
func TestDeadWorkers(t *testing.T) {
	get := func(url string) (int, error) {
		a := newAsker(t, url)
		resp, err := a.client.Get(url)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	for _, c := range []struct {
		url    string
		status int
		err    error
	}{
		{nginx.LaravelURL + "/api/fatal/exit", 200, nil},
		{nginx.LaravelURL + "/api/fatal/memory", 500, nil},
		{nginx.LaravelURL + "/api/fatal/stderr", 200, nil},
		{nginx.LaravelURL + "/api/fatal/kill", 502, nil},
		{nginx.LaravelURL + "/api/fatal/halfway", 200, io.ErrUnexpectedEOF},
		{nginx.LaravelURL + "/api/fatal/headers", 502, nil},
		{nginxFranks.LaravelURL + "/api/fatal/headers", 200, nil},
		{resident.URL + "/api/fatal/kill", 0, io.EOF},
		{resident.URL + "/api/fatal/halfway", 200, io.ErrUnexpectedEOF},
	} {
		status, err := get(c.url)
		if status != c.status || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v; want %d, %v", c.url, status, err, c.status, c.err)
		}
	}
}
