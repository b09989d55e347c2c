//go:build unix

package fcgitest

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// FullBacklog returns the path of a unix socket whose backlog is full, so that a dial fails with EAGAIN, and a
// function that takes what waits there and makes room again.
func FullBacklog(t testing.TB) (path string, drain func()) {
	t.Helper()
	path = socketPath(t)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	waiting := fill(t, path)
	return path, func() {
		for range waiting {
			if c, _, err := syscall.Accept(fd); err == nil {
				syscall.Close(c)
			}
		}
	}
}

// fill dials until there is no more room, and returns how many connections wait.
func fill(t testing.TB, path string) int {
	t.Helper()
	for n := 0; ; n++ {
		c, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}
