package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// identity is a process for as long as it lives: its number may be given to another one afterwards.
type identity struct {
	pid   int
	start uint64 // in ticks since the machine began
}

// process is a line of /proc/PID/stat.
type process struct {
	identity
	name   string // at most 15 bytes
	parent int
	own    time.Duration // user and system time of its own
	reaped time.Duration // that of its children which have ended and were waited for
}

// tick is the unit of /proc on every architecture of Linux that Go knows.
const tick = 10 * time.Millisecond

func procDir(pid int) string { return "proc/" + strconv.Itoa(pid) }

// gone says whether an error means that the process has ended.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

func (h *host) process(pid int) (process, error) {
	text, err := h.text(procDir(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	return parseStat(text)
}

// parseStat reads a line of proc(5)'s stat. The name is in brackets and may hold anything, brackets as well.
func parseStat(line string) (process, error) {
	bad := fmt.Errorf("stat: bad line %.80q", line)
	before, rest, ok := strings.Cut(line, " (")
	end := strings.LastIndex(rest, ") ")
	if !ok || end < 0 {
		return process{}, bad
	}
	fields := strings.Fields(rest[end+2:])
	if len(fields) < 20 {
		return process{}, bad
	}
	p := process{name: rest[:end]}
	numbers := map[int]uint64{}
	for _, i := range []int{1, 11, 12, 13, 14, 19} { // ppid, utime, stime, cutime, cstime, starttime
		n, err := strconv.ParseUint(fields[i], 10, 38) // 87 years, and no overflow in nanoseconds
		if err != nil {
			return process{}, bad
		}
		numbers[i] = n
	}
	pid, err := strconv.Atoi(before)
	if err != nil || pid < 1 {
		return process{}, bad
	}
	p.pid, p.parent, p.start = pid, int(numbers[1]), numbers[19]
	p.own = time.Duration(numbers[11]+numbers[12]) * tick
	p.reaped = time.Duration(numbers[13]+numbers[14]) * tick
	return p, nil
}

// command returns the arguments of a process. One that has given itself a title has that as its only argument.
func (h *host) command(pid int) []string {
	text, err := h.text(procDir(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return parseCommand(text)
}

func parseCommand(text string) []string {
	text = strings.TrimRight(text, "\x00 \n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// children returns those of a process, in order. The kernel may leave one out while another one ends, so that a list
// counts only when it reads alike twice.
func (h *host) children(pid int) ([]int, error) {
	last, err := h.listChildren(pid)
	for range 5 {
		before := last
		if last, err = h.listChildren(pid); err != nil || slices.Equal(last, before) {
			break
		}
	}
	return last, err
}

func (h *host) listChildren(pid int) ([]int, error) {
	tasks := procDir(pid) + "/task"
	threads, err := fs.ReadDir(h.root, tasks)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, thread := range threads {
		text, err := h.text(path.Join(tasks, thread.Name(), "children"))
		if gone(err) {
			continue // a thread that has ended; its children have moved on
		}
		if err != nil {
			return nil, err
		}
		for _, field := range strings.Fields(text) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("children of %d: %w", pid, err)
			}
			pids = append(pids, child)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// pids returns all processes that there are.
func (h *host) pids() ([]int, error) {
	entries, err := fs.ReadDir(h.root, "proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
