package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes returns how many bytes may still be taken of the file system that file is on.
func freeBytes(file *os.File) int64 {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &fs) != nil || fs.Blocks == 0 {
		return unknownFree
	}
	return beyondReserve(int64(fs.Bavail)*fs.Bsize, int64(fs.Blocks)*fs.Bsize)
}

// punch gives the blocks of n bytes from offset on back to the file system. The offsets of all others stay.
func punch(file *os.File, offset, n int64) error {
	return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, n)
}
