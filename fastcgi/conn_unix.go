//go:build unix

package fastcgi

import "syscall"

// nothingToRead needs the descriptor to be non-blocking, as ours and those of package net are. A byte that it takes is
// no loss: it means that the connection is not fit for use.
func nothingToRead(fd uintptr) bool {
	var b [1]byte
	_, err := syscall.Read(int(fd), b[:])
	return err == syscall.EAGAIN
}
