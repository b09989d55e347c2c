//go:build stack

package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gateway/testdata/stack"
)

// What the tests on real stacks of this package share. Servers take too long to start for each of them; each is
// started by the first test that asks for it.
var (
	binary string  // the gateway, as go build makes it
	shared stack.T // outlives every test
)

func TestMain(m *testing.M) {
	os.Exit(stack.Run(func(t stack.T) int {
		shared = t
		dir := shortDir(t)
		binary = filepath.Join(dir, "gateway")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		return m.Run()
	}))
}

// shortDir makes a folder whose path leaves room for the name of a unix socket, which TMPDIR may not.
func shortDir(t stack.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gw")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

const (
	serveWithin = 20 * time.Second
	endWithin   = 40 * time.Second // longer than limits.grace
)

// process is a gateway that runs on its own, as an operator starts it.
type process struct {
	addr   string // host:port of its only listener
	dir    string // its configuration, admin.sock, storage and log
	config string // path of its configuration
	cmd    *exec.Cmd
	ended  chan struct{} // closed when cmd has been reaped
}

// startGateway runs "gateway run" with a configuration that begins with listen, admin and storage, and goes on with
// text, whose keys outside of tables come first. It returns once the gateway serves, and ends it with the test.
func startGateway(t stack.T, text string) *process {
	t.Helper()
	p := &process{dir: shortDir(t)}
	p.config = filepath.Join(p.dir, "gateway.toml")
	for attempt := 1; ; attempt++ {
		p.addr = freePort(t)
		p.write(t, text)
		err := p.start()
		if err == nil {
			break
		}
		// Another program may take the port between its choice and its use.
		if attempt == 3 || !bytes.Contains(p.log(), []byte("address already in use")) {
			t.Fatalf("gateway: %v\n%s", err, p.log())
		}
	}
	t.Cleanup(func() {
		p.stop(t)
		if f, ok := t.(interface{ Failed() bool }); ok && f.Failed() {
			t.Logf("end of the gateway's log:\n%s", tail(p.log()))
		}
	})
	return p
}

// write replaces the configuration in one step, so that no reader finds half of it.
func (p *process) write(t stack.T, text string) {
	t.Helper()
	head := fmt.Sprintf("listen = [\"http://%s\"]\nadmin = \"unix:%s/admin.sock\"\nstorage = \"%s/storage\"\n", p.addr, p.dir, p.dir)
	if err := os.WriteFile(p.config+".new", []byte(head+text), 0o644); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.Rename(p.config+".new", p.config); err != nil {
		t.Fatalf("%v", err)
	}
}

// start runs the binary and waits until it says that it serves.
func (p *process) start() error {
	out, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer out.Close()
	words, said, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(binary, "run", "-c", p.config)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, out, said
	// It ends with the tests even when these have no time for their cleanups.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = p.cmd.Start()
	said.Close()
	if err != nil {
		words.Close()
		return err
	}
	ready := make(chan struct{})
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		copyWords(words, filepath.Join(p.dir, "words"), ready)
		// How it ended is in its log.
		_ = p.cmd.Wait()
	}()
	return p.awaitReady(ready)
}

// copyWords keeps what the gateway says on the side, and tells when it says that it serves.
func copyWords(words *os.File, path string, ready chan<- struct{}) {
	defer words.Close()
	kept, err := os.Create(path)
	if err != nil {
		return
	}
	defer kept.Close()
	for lines := bufio.NewScanner(words); lines.Scan(); {
		fmt.Fprintln(kept, lines.Text())
		if ready != nil && strings.HasPrefix(lines.Text(), "gateway: serving ") {
			close(ready)
			ready = nil
		}
	}
}

func (p *process) awaitReady(ready <-chan struct{}) error {
	late := time.NewTimer(serveWithin)
	defer late.Stop()
	select {
	case <-ready:
		return nil
	case <-p.ended:
		return fmt.Errorf("it ended by itself: %s", p.cmd.ProcessState)
	case <-late.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("it does not serve within %s", serveWithin)
	}
}

// stop asks the gateway to drain (SIGTERM) and waits until it has ended.
func (p *process) stop(t stack.T) {
	t.Helper()
	// Fails only when it has ended already.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(endWithin):
		_ = p.cmd.Process.Kill()
		<-p.ended
		t.Logf("the gateway did not stop within %s and was killed", endWithin)
	}
}

// log returns what the gateway has written so far: its log, and what it said on the side.
func (p *process) log() []byte {
	var all []byte
	for _, name := range []string{"log", "words"} {
		// Before the first start there is none.
		b, _ := os.ReadFile(filepath.Join(p.dir, name))
		all = append(all, b...)
	}
	return all
}

func tail(log []byte) []byte {
	return log[max(0, len(log)-8<<10):]
}

func freePort(t stack.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}
