package upstream

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func dialError(err error) *Error {
	return &Error{Op: "dial", safe: true, Err: &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", err)}}
}

func TestHowLongADialIsRepeated(t *testing.T) {
	for _, tc := range []struct {
		failure   *Error
		from, to  time.Duration
		queueWait time.Duration
	}{
		{failure: dialError(syscall.ECONNREFUSED), from: 9 * time.Second, to: 10 * time.Second},
		{failure: dialError(syscall.EAGAIN), from: 9 * time.Second, to: 10 * time.Second},
		{failure: dialError(syscall.EADDRNOTAVAIL), from: 9 * time.Second, to: 10 * time.Second},
		{failure: dialError(syscall.ENOENT), from: 2 * time.Second, to: 3 * time.Second},
		{failure: dialError(syscall.ENOENT), queueWait: time.Second, from: 500 * time.Millisecond, to: time.Second},
		{failure: &Error{Op: "dial", safe: true, Err: &net.DNSError{IsNotFound: true}}, from: 2 * time.Second, to: 3 * time.Second},
		{failure: dialError(syscall.EACCES), from: 10 * time.Millisecond, to: 20 * time.Millisecond},
		{failure: dialError(syscall.EPERM), from: 10 * time.Millisecond, to: 20 * time.Millisecond},
		{failure: dialError(syscall.EAFNOSUPPORT), from: 10 * time.Millisecond, to: 20 * time.Millisecond},
		{failure: dialError(syscall.EPROTOTYPE), from: 10 * time.Millisecond, to: 20 * time.Millisecond},
		{failure: dialError(syscall.ENOTDIR), from: 10 * time.Millisecond, to: 20 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, Config{QueueWait: tc.queueWait, Backends: oneBackend(
				tripFunc(func(*http.Request) (*http.Response, error) { return nil, tc.failure }), 1)})
			begun := time.Now()
			_, err := send(g, newRequest("POST", ""))
			if since := time.Since(begun); since < tc.from || since > tc.to || !errors.Is(err, tc.failure.Err.(error)) {
				t.Errorf("%v: gave up after %v with %v, want %v to %v", tc.failure, since, err, tc.from, tc.to)
			}
			drain(t, g)
		})
	}
}

// A backend that no waiting brings back does not spoil the wait for another.
func TestOneHopelessBackendAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		g := newGroup(t, Config{Backends: []BackendConfig{
			{Addr: "hopeless", Transport: tripFunc(func(*http.Request) (*http.Response, error) { return nil, dialError(syscall.EACCES) })},
			{Addr: "restarts", Transport: tripFunc(func(*http.Request) (*http.Response, error) {
				if time.Since(begun) < 5*time.Second {
					return nil, dialError(syscall.ECONNREFUSED)
				}
				return newResponse(http.NoBody), nil
			})},
		}})
		if _, err := send(g, newRequest("POST", "")); err != nil {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		time.Sleep(time.Minute)
		drain(t, g)
	})
}

// asNobody runs f without the rights of root, which may write to any socket.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		f()
		return
	}
	// Rights are a thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
	defer syscall.RawSyscall(syscall.SYS_SETFSUID, 0, 0, 0)
	f()
}

func TestSocketThatCannotBeDialledSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // it is ours alone
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	listener, err := net.Listen("unix", path("closed.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	stale, err := net.Listen("unix", path("stale.sock"))
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	for _, err := range []error{os.Chmod(path("closed.sock"), 0), os.Chmod(path("stale.sock"), 0o777),
		os.Mkdir(path("room"), 0), os.WriteFile(path("file"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		socket string
		is     error
		says   []string
	}{
		{"closed.sock", fs.ErrPermission, []string{"may not write to this socket", "owner " + userName(uint32(os.Getuid())), "mode 0;",
			"listen.owner, listen.group or listen.mode"}},
		{"room/app.sock", fs.ErrPermission, []string{"may not enter the folder " + path("room")}},
		{"gone.sock", fs.ErrNotExist, []string{"the socket is not there", "listen of PHP-FPM's pool"}},
		{"gone/app.sock", fs.ErrNotExist, []string{"the folder " + path("gone") + " is not there"}},
		{"stale.sock", syscall.ECONNREFUSED, []string{"nothing listens on this socket any more"}},
		{"file/app.sock", syscall.ENOTDIR, nil},
	} {
		addr := "unix:" + path(tc.socket)
		g := newGroup(t, Config{QueueWait: 50 * time.Millisecond, Backends: []BackendConfig{
			{Addr: addr, Transport: newHTTP(t, HTTPConfig{Address: addr})},
		}})
		var err error
		asNobody(t, func() { _, err = send(g, newRequest("GET", "")) })
		for _, says := range append(tc.says, "upstream test: "+addr+": dial: connect: ") {
			if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v\nwant %q in it", tc.socket, err, says)
			}
		}
	}
}

func TestHintsAreForUnixSockets(t *testing.T) {
	if got := hint("127.0.0.1:9000", syscall.ECONNREFUSED); got != "" {
		t.Errorf("hint = %q", got)
	}
}
