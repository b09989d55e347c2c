package load

import (
	"syscall"
	"time"
)

// sleepExactly sleeps in the kernel, which is late by some 50 microseconds. A signal ends it early.
func sleepExactly(d time.Duration) {
	if d > 0 {
		t := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&t, nil)
	}
}
