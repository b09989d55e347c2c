package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns the user and system time that a process with all its threads has had so far. It is what
// /proc/PID/stat counts in hundredths of a second, from the process's own clock, in nanoseconds.
func processTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: see clock_getcpuclockid(3)
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// tree returns a process and all that descend from it.
func tree(pid int) ([]int, error) {
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		// The names in the pattern are numbers, so that there can be no bad pattern.
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i]))
		if len(lists) == 0 {
			return nil, fmt.Errorf("process %d has gone", pids[i])
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if gone(err) {
				continue // a thread that has ended; its children have moved on
			}
			if err != nil {
				return nil, err
			}
			for _, field := range strings.Fields(string(text)) {
				child, err := strconv.Atoi(field)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", list, err)
				}
				pids = append(pids, child)
			}
		}
	}
	return pids, nil
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// treeTime is the time of all processes of a tree, by pid.
func treeTime(pid int) (map[int]time.Duration, error) {
	pids, err := tree(pid)
	if err != nil {
		return nil, err
	}
	times := make(map[int]time.Duration, len(pids))
	for _, pid := range pids {
		if times[pid], err = processTime(pid); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// spent is what a tree has used between two looks. It fails when a process has come or gone, for the time
// of that one is not known.
func spent(before, after map[int]time.Duration) (time.Duration, error) {
	var sum time.Duration
	for pid, then := range before {
		now, there := after[pid]
		if !there {
			return 0, fmt.Errorf("process %d ended", pid)
		}
		sum += now - then
	}
	if len(after) > len(before) {
		return 0, fmt.Errorf("%d more processes than before", len(after)-len(before))
	}
	return sum, nil
}

// machine is what all cores together have done since the start.
type machine struct{ busy, stolen time.Duration }

func readMachine() (machine, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machine{}, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return parseMachine(string(line))
}

// parseMachine reads the first line of /proc/stat: user nice system idle iowait irq softirq steal, in
// hundredths of a second.
func parseMachine(line string) (machine, error) {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return machine{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	const tick = 10 * time.Millisecond
	var m machine
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return machine{}, fmt.Errorf("/proc/stat: %w", err)
		}
		switch i {
		case 0, 1, 2, 5, 6:
			m.busy += time.Duration(n) * tick
		case 7:
			m.stolen = time.Duration(n) * tick
		}
	}
	return m, nil
}
