package load

import (
	"runtime"
	"syscall"
	"time"
)

// sleepExactly sleeps in the kernel, which is late by some 50 microseconds. A signal ends it early.
func sleepExactly(d time.Duration) {
	if d > 0 {
		runtime.Gosched() // who has just been given a request runs before this thread sleeps, and need not be found by another
		t := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&t, nil)
	}
}
