package stack

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	readyWithin = 30 * time.Second // a cold Laravel on a busy machine takes seconds
	stopWithin  = 5 * time.Second  // after that it is SIGKILL
	pollEvery   = 10 * time.Millisecond
)

// service is a program that runs until its test is over and may be stopped and started again before that.
type service struct {
	name  string
	argv  []string
	env   []string
	log   string       // file of its output and error output
	ready func() error // nil once it serves

	mu   sync.Mutex // guards cmd, done
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has been reaped
}

// start starts what build makes of n free loopback addresses, and stops it at the end of the test. A port can be
// taken by another program between its choice and its use; then others are tried.
func start(t T, n int, build func(addrs []string) *service) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		s := build(freeAddrs(t, n))
		err := s.start()
		if err != nil && attempt < 3 && bytes.Contains(bytes.ToLower(tail(s.log)), []byte("address already in use")) {
			continue
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		t.Cleanup(func() {
			s.Stop()
			if failed(t) {
				logTail(t, s.log)
			}
		})
		return
	}
}

// Start starts the program again after Stop or Kill, at the same address, and waits until it serves.
func (s *service) Start(t T) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatalf("%v", err)
	}
}

func (s *service) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, filepath.Dir(s.log), out, out
	// A group of its own, so that its workers can be ended with it; and the end of a test run that had no time
	// for its cleanups (a panic, go test -timeout) ends it as well.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	s.cmd, s.done = cmd, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		cmd.Wait() // the exit code of a program that is told to go says nothing
	}(s.done)
	if err := s.awaitReady(); err != nil {
		s.end(syscall.SIGKILL)
		return fmt.Errorf("%s does not serve: %w\n%s", s.name, err, tail(s.log))
	}
	return nil
}

func (s *service) awaitReady() error {
	deadline := time.NewTimer(readyWithin)
	defer deadline.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		err := s.ready()
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return errors.New("it ended by itself")
		case <-deadline.C:
			return err
		case <-poll.C:
		}
	}
}

// Pid is the process id of the program, of its master where it has workers.
func (s *service) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}

// Stop asks the program to end (SIGTERM) and waits until it has; after five seconds it is killed.
func (s *service) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGTERM)
}

// Kill ends the program and its workers at once (SIGKILL).
func (s *service) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGKILL)
}

// end is called with mu held. The group is killed even after its leader has gone, for workers that outlive it.
func (s *service) end(signal syscall.Signal) {
	if s.cmd == nil {
		return
	}
	pid := s.cmd.Process.Pid
	if signal != syscall.SIGKILL {
		// Fails only for a process that has gone already.
		_ = s.cmd.Process.Signal(signal)
		select {
		case <-s.done:
		case <-time.After(stopWithin):
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	<-s.done
}

// poll waits until ok, and fails the test when that takes too long.
func poll(t T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(readyWithin)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, readyWithin)
		}
		time.Sleep(pollEvery)
	}
}

// freeAddrs asks the kernel for loopback addresses that nobody listens on.
func freeAddrs(t T, n int) []string {
	t.Helper()
	addrs := make([]string, n)
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("free port: %v", err)
		}
		defer l.Close() // together, so that no two are the same
		addrs[i] = l.Addr().String()
	}
	return addrs
}

// program finds an installed program; Debian keeps servers where a normal user's PATH does not lead.
func program(t T, a *Application, name string) string {
	t.Helper()
	for _, path := range []string{filepath.Join(a.Source, "var/bin", name), name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Fatalf("%s is not installed; %s", name, installHint)
	return ""
}

// tail returns the end of a log, less PHP's stack traces.
func tail(path string) []byte {
	const most = 8 << 10
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var kept []byte
	for line := range bytes.Lines(b) {
		if !bytes.HasPrefix(line, []byte("#")) {
			kept = append(kept, line...)
		}
	}
	return bytes.TrimSpace(kept[max(0, len(kept)-most):])
}

func logTail(t T, path string) {
	if b := tail(path); len(b) > 0 {
		t.Logf("%s:\n%s", filepath.Base(path), b)
	}
}
