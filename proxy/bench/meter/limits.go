package meter

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// None stands in Limits for a limit that there is not.
const None = "none"

// Limits is what a tree may use at most, as texts that are equal when the limits are.
type Limits struct {
	CPU    string `json:"cpu"`    // processors' worth of time, such as 1.50; None or Unknown
	CPUSet string `json:"cpuset"` // the processors it may run on, such as 0-3
	Memory string `json:"memory"` // bytes; None or Unknown
}

// Limits reads those of the tree's control group and of all that it is in: the least one counts.
func (t *Tree) Limits() Limits {
	pid := t.Pid()
	l := Limits{CPU: Unknown, CPUSet: t.h.allowed(pid), Memory: Unknown}
	mount, group := t.h.cgroupMount(), t.h.cgroupPath(pid)
	if mount == "" || group == "" {
		return l
	}
	controllers := strings.Fields(t.h.line(mount + "/cgroup.controllers"))
	var quota float64
	var most int64
	for dir := group; ; dir = path.Dir(dir) {
		q, err := t.h.quota(path.Join(mount, dir, "cpu.max"))
		m, err2 := t.h.most(path.Join(mount, dir, "memory.max"))
		if err := cmp.Or(err, err2); err != nil {
			return l
		}
		quota, most = least(quota, q), least(most, m)
		if dir == "/" || dir == "." {
			break
		}
	}
	// Without the controller at the root there may be limits of version 1, or none.
	if slices.Contains(controllers, "cpu") {
		l.CPU = limitText(quota, func() string { return strconv.FormatFloat(quota, 'f', 2, 64) })
	}
	if slices.Contains(controllers, "memory") {
		l.Memory = limitText(most, func() string { return strconv.FormatInt(most, 10) })
	}
	return l
}

func limitText[T cmp.Ordered](limit T, text func() string) string {
	var none T
	if limit == none {
		return None
	}
	return text()
}

// least returns the smaller of two limits, of which zero is none.
func least[T int64 | float64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// quota reads cpu.max: microseconds in every so many, or max. Zero is no limit.
func (h *host) quota(name string) (float64, error) {
	text, err := h.text(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parseQuota(text)
}

func parseQuota(text string) (float64, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("cpu.max: bad line %.80q", text)
	}
	if fields[0] == "max" {
		return 0, nil
	}
	quota, err := strconv.ParseUint(fields[0], 10, 63)
	period, err2 := strconv.ParseUint(fields[1], 10, 63)
	if err := cmp.Or(err, err2); err != nil || period == 0 {
		return 0, fmt.Errorf("cpu.max: bad line %.80q", text)
	}
	return float64(quota) / float64(period), nil
}

// most reads memory.max: bytes, or max. Zero is no limit.
func (h *host) most(name string) (int64, error) {
	text, err := h.text(name)
	if errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(text) == "max" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return h.number(name)
}

// allowed is the list of processors that a process may run on, whether by its group or by its own choice.
func (h *host) allowed(pid int) string {
	text, _ := h.text(procDir(pid) + "/status")
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return Unknown
}
