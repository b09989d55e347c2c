package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse says that another process answers on the control socket.
var ErrInUse = errors.New("another gateway answers there")

func listen(network, address string) (net.Listener, error) {
	if network == "tcp" {
		return net.Listen(network, address)
	}
	if err := os.MkdirAll(filepath.Dir(address), 0o700); err != nil {
		return nil, err
	}
	listener, err := listenUnix(address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return listener, err
	}
	if err := removeStale(address); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listenUnix(address)
}

// listenUnix makes a socket that nobody else can ever connect to: Linux takes the mode of the file from
// that of the descriptor, so it is 0600 from its first moment. Elsewhere the chmod after it must do.
func listenUnix(path string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var chmodErr error
		err := conn.Control(func(fd uintptr) { chmodErr = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(err, chmodErr)
	}}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}

// removeStale removes the socket at path if nobody listens on it any more. It touches nothing else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its owner has just ended
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("there is a file that is no socket")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return ErrInUse
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err // a full backlog, say: somebody is there
	}
	return os.Remove(path)
}
