//go:build stack

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gateway/proxy"
	"gateway/proxy/admin"
)

// What a running gateway tells of itself: its log, its status, and what the kernel knows about its process.

// eventually waits for what nothing signals: a line in a file, a child of another program's.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventuallyIn(t, 20*time.Second, what, ok)
}

func eventuallyIn(t *testing.T, most time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(most)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %s", what, most)
		}
	}
}

// entry is one line of the log; access lines have a Method.
type entry struct {
	Msg       string  `json:"msg"`
	Cause     string  `json:"cause"`
	Method    string  `json:"method"`
	URI       string  `json:"uri"`
	Proto     string  `json:"proto"`
	Status    int     `json:"status"`
	BytesOut  int64   `json:"bytes_out"`
	Variant   string  `json:"variant"`
	Backend   string  `json:"backend"`
	Attempts  int     `json:"attempts"`
	QueueMS   float64 `json:"queue_ms"`
	Duration  float64 `json:"duration_ms"`
	Truncated bool    `json:"truncated"`
	Aborted   bool    `json:"aborted"`
	Client    string  `json:"client"`
	Error     string  `json:"error"`
	Note      string  `json:"note"`
}

// entries returns the lines of the log so far for which keep is true.
func (p *process) entries(t *testing.T, keep func(entry) bool) []entry {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	log = log[:bytes.LastIndexByte(log, '\n')+1] // the last line may be half written
	var all []entry
	for line := range bytes.Lines(log) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("log: %v in %q", err, line)
		}
		if keep(e) {
			all = append(all, e)
		}
	}
	return all
}

// access waits for the access lines of n requests with this URI.
func (p *process) access(t *testing.T, uri string, n int) []entry {
	t.Helper()
	var found []entry
	eventually(t, fmt.Sprintf("%d access lines of %s", n, uri), func() bool {
		found = p.entries(t, func(e entry) bool { return e.Method != "" && e.URI == uri })
		return len(found) >= n
	})
	return found
}

// awaitLog waits for a line of the log other than an access line.
func (p *process) awaitLog(t *testing.T, what string, is func(entry) bool) {
	t.Helper()
	eventually(t, what, func() bool {
		return len(p.entries(t, func(e entry) bool { return e.Method == "" && is(e) })) > 0
	})
}

func (p *process) reloads(t *testing.T, cause string) int {
	t.Helper()
	return len(p.entries(t, func(e entry) bool { return e.Msg == "configuration reloaded" && e.Cause == cause }))
}

// control is a client of the gateway's admin socket.
func (p *process) control(t *testing.T) *admin.Client {
	t.Helper()
	client, err := admin.NewClient(admin.ClientConfig{Network: "unix", Address: filepath.Join(p.dir, "admin.sock")})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (p *process) status(t *testing.T) proxy.Status {
	t.Helper()
	answer, err := p.control(t).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var s proxy.Status
	if err := json.Unmarshal(answer, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// upstream is the state of the upstream called app.
func (p *process) upstream(t *testing.T) proxy.UpstreamStatus {
	t.Helper()
	for _, u := range p.status(t).Upstreams {
		if u.Name == "app" {
			return u
		}
	}
	t.Fatal("no upstream app")
	return proxy.UpstreamStatus{}
}

func (p *process) inFlight(t *testing.T) (n int) {
	t.Helper()
	for _, b := range p.upstream(t).Backends {
		n += b.InFlight
	}
	return n
}

// harmless fails the test when any backend of app is blamed for something.
func (p *process) harmless(t *testing.T) {
	t.Helper()
	for _, b := range p.upstream(t).Backends {
		if b.Failed != 0 || !b.Ejected.IsZero() {
			t.Errorf("the backend is blamed: %+v", b)
		}
	}
}

// alive fails the test when the gateway has ended or panicked.
func (p *process) alive(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
		t.Fatalf("the gateway ended: %s", p.cmd.ProcessState)
	default:
	}
	if bytes.Contains(p.log(), []byte("panic")) {
		t.Error("there was a panic")
	}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits until the gateway has ended and returns its code.
func (p *process) exit(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(within):
		t.Fatalf("the gateway has not ended within %s", within)
	}
	return p.cmd.ProcessState.ExitCode()
}

// kib is a field of /proc/PID/status, such as VmRSS.
func (p *process) kib(t *testing.T, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), field+":")
	var n int
	if _, err := fmt.Sscanf(rest, "%d kB", &n); err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	return n
}

// forgetPeak makes VmHWM begin again at VmRSS.
func (p *process) forgetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0o200); err != nil {
		t.Fatal(err)
	}
}

// descriptors are what the gateway's open files lead to.
func (p *process) descriptors(t *testing.T) []string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		// One that has been closed meanwhile leads nowhere.
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			all = append(all, to)
		}
	}
	return all
}
