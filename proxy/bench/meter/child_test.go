//go:build linux

package meter

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const childVariable = "METER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		obey()
		return
	}
	os.Exit(m.Run())
}

// obey is the life of a child: it does what it is told, line by line, and answers each with a line.
func obey() {
	var kept []any
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		answer, err := "ok", error(nil)
		switch words[0] {
		case "burn":
			err = burn(words[1])
		case "hold": // so many MiB
			n, _ := strconv.Atoi(words[1])
			var b []byte // none of Go's, for the race detector takes several times as much besides
			b, err = syscall.Mmap(-1, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
			touch(b)
			kept = append(kept, b)
		case "share": // the MiB of descriptor 3
			n, _ := strconv.Atoi(words[1])
			var b []byte
			b, err = syscall.Mmap(3, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
			touch(b)
			kept = append(kept, b)
		case "listen":
			var l net.Listener
			l, err = net.Listen(words[1], words[2])
			if err == nil {
				answer = l.Addr().String()
				go take(l)
			}
			kept = append(kept, l)
		case "dial":
			var c net.Conn
			c, err = net.Dial(words[1], words[2])
			kept = append(kept, c)
		case "spawn": // a child of the child, told what to do by the rest of the line
			answer, err = spawn(strings.Join(words[1:], " "), &kept)
		case "run": // the same, and wait for its end
			cmd := exec.Command(os.Args[0])
			cmd.Stdin = strings.NewReader(strings.Join(words[1:], " ") + "\n")
			err = cmd.Run()
		}
		if err != nil {
			answer = "error: " + err.Error()
		}
		fmt.Println(answer)
	}
	runtime.KeepAlive(kept)
}

func touch(b []byte) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
}

func burn(text string) error {
	d, err := time.ParseDuration(text)
	used := func() time.Duration {
		var r syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails for a bad argument only
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	for start := used(); used()-start < d; {
	}
	return err
}

func take(l net.Listener) {
	for {
		if _, err := l.Accept(); err != nil {
			return
		}
	}
}

// spawn leaves a pipe open, at whose end the child ends.
func spawn(order string, kept *[]any) (string, error) {
	cmd := exec.Command(os.Args[0])
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "shared")}
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	*kept = append(*kept, in, out)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go cmd.Wait() // it is reaped when it ends
	fmt.Fprintln(in, order)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", err
	}
	return strconv.Itoa(cmd.Process.Pid), nil
}

// child is a process of this test's own program.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

// newChild starts one, with a program name of its own and perhaps a file as its descriptor 3.
func newChild(t *testing.T, name string, extra ...*os.File) *child {
	t.Helper()
	ours, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(ours, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	// With the race detector a program waits for a second before it ends, unless told otherwise.
	cmd.Env = append(os.Environ(), childVariable+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, extra
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return c
}

// tell has the child do something, and returns its answer when it is done.
func (c *child) tell(format string, args ...any) string {
	c.t.Helper()
	fmt.Fprintf(c.in, format+"\n", args...)
	line, err := c.out.ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error: ") {
		c.t.Fatalf("child: %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

func (c *child) pid() int { return c.cmd.Process.Pid }
