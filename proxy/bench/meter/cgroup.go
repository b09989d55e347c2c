package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cgroup is a group of version 2 as its files tell it at one moment.
type cgroup struct {
	cpu, throttled time.Duration
	memory, peak   int64 // peak since the group began; zero before Linux 5.19
	kills          int64 // by the kernel, for want of memory
	stalled        Stalled
}

// cgroupMount returns the folder where version 2 is mounted, without the slash at its beginning.
func (h *host) cgroupMount() string {
	text, _ := h.text("proc/self/mountinfo")
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if found && strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			return strings.TrimPrefix(fields[4], "/")
		}
	}
	return ""
}

// cgroupPath returns a process's group, such as /system.slice/php8.2-fpm.service. Empty where there is no version 2,
// or the group lies outside of what we see.
func (h *host) cgroupPath(pid int) string {
	text, _ := h.text(procDir(pid) + "/cgroup")
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && !strings.Contains(name, "/..") {
			return name
		}
	}
	return ""
}

// ownCgroup returns the folder of the group that holds the tree and nothing else, and knows its memory.
func (h *host) ownCgroup(s snapshot) (string, bool) {
	mount := h.cgroupMount()
	if mount == "" || len(s.processes) == 0 || len(s.others) > 0 {
		return "", false
	}
	group := h.cgroupPath(s.processes[0].pid)
	if group == "" {
		return "", false
	}
	dir := path.Join(mount, group)
	return dir, h.exists(dir+"/memory.current") && h.holdsOnly(dir, s)
}

func (h *host) holdsOnly(dir string, s snapshot) bool {
	members := 0
	err := fs.WalkDir(h.root, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return err
		}
		text, err := h.text(name)
		for _, field := range strings.Fields(text) {
			pid, _ := strconv.Atoi(field)
			if !slices.ContainsFunc(s.processes, func(p process) bool { return p.pid == pid }) {
				return fs.ErrInvalid
			}
			members++
		}
		return err
	})
	return err == nil && members == len(s.processes)
}

// readCgroup reads a group's files. Those that older kernels lack leave their figures at zero.
func (h *host) readCgroup(dir string) (cgroup, error) {
	var c cgroup
	cpu, err := h.keyed(dir + "/cpu.stat")
	if err != nil {
		return c, err
	}
	current, err := h.number(dir + "/memory.current")
	if err != nil {
		return c, err
	}
	memory, err := h.keyed(dir + "/memory.stat")
	if err != nil {
		return c, err
	}
	c.cpu = time.Duration(cpu["usage_usec"]) * time.Microsecond
	c.throttled = time.Duration(cpu["throttled_usec"]) * time.Microsecond
	// What the kernel would give up first is no one's need: the working set is the rest.
	c.memory = max(current-memory["inactive_file"], 0)
	if c.peak, err = h.number(dir + "/memory.peak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	events, err := h.keyed(dir + "/memory.events")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	c.kills = events["oom_kill"]
	c.stalled, err = h.stalled(dir+"/cpu.pressure", dir+"/memory.pressure", dir+"/io.pressure")
	return c, err
}

// keyed reads a file of lines with a name and a number each.
func (h *host) keyed(name string) (map[string]int64, error) {
	text, err := h.text(name)
	if err != nil {
		return nil, err
	}
	values, err := parseKeyed(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return values, nil
}

func parseKeyed(text string) (map[string]int64, error) {
	values := map[string]int64{}
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 54) // in microseconds 285 years
		if !found || err != nil {
			return nil, fmt.Errorf("bad line %.80q", line)
		}
		values[key] = n
	}
	return values, nil
}

// number reads a file that is one number.
func (h *host) number(name string) (int64, error) {
	text, err := h.text(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}
