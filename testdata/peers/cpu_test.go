package main

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestProcessTimeIsWhatTheKernelAccounts(t *testing.T) {
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	got, err := processTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		t.Fatal(err)
	}
	sum := func(r syscall.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
	// getrusage rounds both of its parts down to microseconds.
	if got < sum(before) || got > sum(after)+2*time.Microsecond {
		t.Errorf("processTime = %v, want between %v and %v", got, sum(before), sum(after))
	}
}

// sleeper starts a shell that waits for a child of its own, and returns the pid of both.
func sleeper(t *testing.T) (parent, child int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 60 & echo ready; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // killed, as it should be
	})
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	pids, err := tree(cmd.Process.Pid)
	if err != nil || len(pids) != 2 {
		t.Fatalf("tree = %v, %v; want the shell and its child", pids, err)
	}
	return pids[0], pids[1]
}

func TestTreeHoldsChildren(t *testing.T) {
	parent, child := sleeper(t)
	all, err := tree(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{os.Getpid(), parent, child} {
		if !slices.Contains(all, pid) {
			t.Errorf("tree = %v, want %d in it", all, pid)
		}
	}
}

func TestTimeOfAProcessThatEndedIsNotLost(t *testing.T) {
	then := map[int]time.Duration{1: time.Second, 2: time.Second}
	if got, err := spent(then, map[int]time.Duration{1: 3 * time.Second, 2: time.Second}); got != 2*time.Second || err != nil {
		t.Errorf("spent = %v, %v; want 2s", got, err)
	}
	for name, now := range map[string]map[int]time.Duration{
		"ended":   {1: 3 * time.Second},
		"changed": {1: 3 * time.Second, 3: time.Second},
		"joined":  {1: 3 * time.Second, 2: time.Second, 3: time.Second},
	} {
		if got, err := spent(then, now); err == nil {
			t.Errorf("a process %s: spent = %v, want an error", name, got)
		}
	}
}

func TestMachineTime(t *testing.T) {
	got, err := parseMachine("cpu  100 20 30 1000 50 6 7 80 900 9000")
	if want := (machine{busy: 1630 * time.Millisecond, stolen: 800 * time.Millisecond}); err != nil || got != want {
		t.Errorf("parseMachine = %v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 x 6 7 8"} {
		if got, err := parseMachine(bad); err == nil {
			t.Errorf("parseMachine(%q) = %v, want an error", bad, got)
		}
	}
	if now, err := readMachine(); err != nil || now.busy <= 0 {
		t.Errorf("readMachine = %v, %v", now, err)
	}
}
