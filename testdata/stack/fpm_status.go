package stack

import (
	"bytes"
	"encoding/json"
	"syscall"
)

// Status is FPM's status page. The three figures of the listen queue are zero for a pool on a unix socket.
type Status struct {
	Pool               string    `json:"pool"`
	ProcessManager     string    `json:"process manager"`
	AcceptedConn       int       `json:"accepted conn"`
	ListenQueue        int       `json:"listen queue"`
	MaxListenQueue     int       `json:"max listen queue"`
	ListenQueueLen     int       `json:"listen queue len"`
	IdleProcesses      int       `json:"idle processes"`
	ActiveProcesses    int       `json:"active processes"`
	TotalProcesses     int       `json:"total processes"`
	MaxChildrenReached int       `json:"max children reached"`
	Processes          []Process `json:"processes"`
}

// Process is one child in the status page.
type Process struct {
	Pid        int    `json:"pid"`
	State      string `json:"state"` // Idle, Running and a few that are over at once
	Requests   int    `json:"requests"`
	RequestURI string `json:"request uri"` // of the request in hand, or of the last
}

// Status returns what the pool says of itself. It takes no child of the pool to answer.
func (p *Pool) Status(t T) Status {
	t.Helper()
	answer, err := ask(p.StatusAddr, "/fpm-status", "json&full")
	if err != nil {
		t.Fatalf("status of %s: %v", p.name, err)
	}
	_, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	var s Status
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatalf("status of %s: %v in %q", p.name, err, answer)
	}
	return s
}

// KillWorker ends a child with SIGKILL, a busy one if there is one, and returns its pid. FPM starts another.
func (p *Pool) KillWorker(t T) int {
	t.Helper()
	processes := p.Status(t).Processes
	if len(processes) == 0 {
		t.Fatalf("%s has no child to kill", p.name)
	}
	victim := processes[0].Pid
	for _, process := range processes {
		if process.State == "Running" {
			victim = process.Pid
			break
		}
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatalf("kill child %d of %s: %v", victim, p.name, err)
	}
	return victim
}
