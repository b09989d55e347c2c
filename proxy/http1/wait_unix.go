//go:build unix

package http1

import (
	"io"
	"net"
	"os"
	"syscall"
)

// waiter waits for the first bytes on a socket and takes a buffer only once there are some. An idle connection holds
// its goroutine and nothing else.
type waiter struct {
	raw   syscall.RawConn
	try   func(fd uintptr) bool // of this waiter, made once
	input *input
	err   error
}

// newWaiter returns nil for no socket, such as that of a TLS connection, whose bytes are not what we read.
func newWaiter(socket *net.TCPConn) *waiter {
	if socket == nil {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	w := &waiter{raw: raw}
	w.try = w.read
	return w
}

func (w *waiter) await(in *input) error {
	w.input, w.err = in, nil
	if err := w.raw.Read(w.try); err != nil {
		return err
	}
	return w.err
}

// hasMore says whether there is something to read on socket now.
func hasMore(socket *net.TCPConn) (more bool) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // one that is closed has nothing more
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		more = err == nil && n > 0
	})
	return more
}

// read tries once and says whether that gave bytes, the end or a fault; else the runtime waits until it may.
func (w *waiter) read(fd uintptr) bool {
	w.input.ensure()
	for {
		n, err := syscall.Read(int(fd), w.input.buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			w.input.release()
			return false
		case err != nil:
			w.err = os.NewSyscallError("read", err)
		case n == 0:
			w.err = io.EOF
		default:
			w.input.to = n
		}
		return true
	}
}
