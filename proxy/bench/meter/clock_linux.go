package meter

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processClock returns the user and system time that a process with all its threads has had, from its own clock, which
// counts what its stat file does, in nanoseconds and not in hundredths of a second.
func processClock(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: see clock_getcpuclockid(3)
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts)
	if err == unix.EINVAL {
		err = unix.ESRCH // so the kernel calls the clock of a process that there is not
	}
	if err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}
