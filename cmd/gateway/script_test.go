package main_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// nobody is a user without rights.
const nobody = 65534

// TestScripts runs testdata/script against the real binary. Beside what testscript has there are the commands below,
// and the ports $FREE and $TAKEN, on which somebody listens.
func TestScripts(t *testing.T) {
	// Not t.TempDir: its parent is closed to other users.
	dir, err := os.MkdirTemp("", "gateway-script-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "gateway"), ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:         filepath.Join("testdata", "script"),
		WorkdirRoot: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Join(dir, "bin")+":"+env.Getenv("PATH"))
			return setPorts(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "unprivileged": unprivileged, "serving": serving,
		},
		Condition: condition,
		Deadline:  time.Now().Add(time.Minute),
	})
}

func setPorts(env *testscript.Env) error {
	for _, name := range []string{"FREE", "TAKEN"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		env.Setenv(name, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
		if name == "FREE" {
			l.Close()
		} else {
			env.Defer(func() { l.Close() })
		}
	}
	return nil
}

// exits runs a program that has to end with the code given: exits CODE PROGRAM ARGUMENT...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	checkExit(ts, args[0], ts.Exec(args[1], args[2:]...))
}

// unprivileged is exits for a user without rights.
func unprivileged(ts *testscript.TestScript, _ bool, args []string) {
	program, _, _ := strings.Cut(ts.Getenv("PATH"), ":")
	cmd := exec.Command(filepath.Join(program, args[1]), args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.Getenv("WORK"), ts.Stdout(), ts.Stderr()
	cmd.Env = []string{"WORK=" + cmd.Dir}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	checkExit(ts, args[0], cmd.Run())
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// serving waits until a port of loopback takes connections.
func serving(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+args[0])
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// condition knows privileged-ports: whether a port below 1024 takes a right.
func condition(name string) (bool, error) {
	if name != "privileged-ports" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	first, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if err != nil {
		return true, nil // of systems without the file, all have them
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(first)))
	return n > 80, err
}
