//go:build unix

package upstream

import "syscall"

// isQuiet reports whether an idle connection is open and silent. Anything that can be read from it, an end or
// bytes, means that it is of no use. Asking costs one system call and no wait.
func (c *conn) isQuiet() bool {
	if c.raw == nil {
		return false
	}
	quiet := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN || err == syscall.EINTR
	})
	return err == nil && quiet
}
