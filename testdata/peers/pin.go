package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// cores says where programs run: the peer that is measured alone on one core, its clients and all backends on another.
type cores struct {
	Pinned bool `json:"pinned"`
	Front  int  `json:"front"`
	Back   int  `json:"back"`
}

// divide takes the first two cores that this process may use. With only one, nothing is pinned.
func divide() (cores, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return cores{}, fmt.Errorf("which cores may be used: %w", err)
	}
	var usable []int
	for cpu := range len(set) * strconv.IntSize {
		if set.IsSet(cpu) {
			usable = append(usable, cpu)
		}
	}
	if len(usable) < 2 {
		return cores{}, nil
	}
	return cores{Pinned: true, Front: usable[0], Back: usable[1]}, nil
}

// pinSelf moves this process to the back core. Whatever it starts inherits that.
func (c cores) pinSelf() error {
	if !c.Pinned {
		return nil
	}
	var set unix.CPUSet
	set.Set(c.Back)
	// Twice: a thread may come up while the first pass runs, started by one that it had not reached.
	for range 2 {
		threads, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			tid, err := strconv.Atoi(filepath.Base(thread))
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("pin to core %d: %w", c.Back, err)
			}
		}
	}
	return nil
}

// front puts taskset before a command, for the front core.
func (c cores) front(argv []string) []string {
	if !c.Pinned {
		return argv
	}
	return append([]string{"taskset", "-c", strconv.Itoa(c.Front)}, argv...)
}

func (c cores) String() string {
	if !c.Pinned {
		return fmt.Sprintf("nothing pinned: %d core", runtime.NumCPU())
	}
	return fmt.Sprintf("the peer on core %d, clients and all backends on core %d", c.Front, c.Back)
}

// goEnv is the environment of the peers written in Go.
func goEnv() []string { return append(os.Environ(), "GOMAXPROCS=1") }
