package fastcgi

import (
	"net"
	"os"
	"syscall"
)

// connectUnix does what net.DialUnix does, less asking for the names of both ends, which are known: two system
// calls of the dozen that a request costs. It never waits; a full backlog is EAGAIN.
func connectUnix(addr *net.UnixAddr) (net.Conn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: addr.Name}); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return &unixConn{os.NewFile(uintptr(fd), addr.Name), addr}, nil
}

// unixConn is a net.Conn over a file, which has all its methods but two.
type unixConn struct {
	*os.File
	addr *net.UnixAddr
}

// LocalAddr is that of a socket without a name of its own.
func (c *unixConn) LocalAddr() net.Addr { return &net.UnixAddr{Net: c.addr.Net} }

func (c *unixConn) RemoteAddr() net.Addr { return c.addr }
