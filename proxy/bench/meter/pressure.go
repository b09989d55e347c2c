package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Stalled is how long some of the processes could not go on because they waited for a processor, for memory, or for a
// disk. Zero where the kernel does not count it.
type Stalled struct {
	CPU    time.Duration `json:"cpu_ns"`
	Memory time.Duration `json:"memory_ns"`
	IO     time.Duration `json:"io_ns"`
}

func (s Stalled) minus(before Stalled) Stalled {
	return Stalled{s.CPU - before.CPU, s.Memory - before.Memory, s.IO - before.IO}
}

// Pressure is the share of the last ten seconds, 0 to 1, in which some processes were stalled.
type Pressure struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
	IO     float64 `json:"io"`
}

type pressure struct {
	avg10 float64
	total time.Duration
}

func (h *host) stalled(cpu, memory, io string) (Stalled, error) {
	_, s, err := h.pressures(cpu, memory, io)
	return s, err
}

func (h *host) pressures(cpu, memory, io string) (Pressure, Stalled, error) {
	var all [3]pressure
	for i, name := range []string{cpu, memory, io} {
		text, err := h.text(name)
		// Where the kernel was told not to count, the files are there and cannot be read.
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) {
			continue
		}
		if err == nil {
			all[i], err = parsePressure(text)
		}
		if err != nil {
			return Pressure{}, Stalled{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return Pressure{all[0].avg10, all[1].avg10, all[2].avg10}, Stalled{all[0].total, all[1].total, all[2].total}, nil
}

// parsePressure reads the line of "some": those that wait, while others may go on.
//
//	some avg10=32.25 avg60=48.59 avg300=74.14 total=4952919346
func parsePressure(text string) (pressure, error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "some" {
			continue
		}
		var p pressure
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			var err error
			switch key {
			case "avg10":
				p.avg10, err = strconv.ParseFloat(value, 64)
				p.avg10 /= 100
			case "total":
				var n int64
				n, err = strconv.ParseInt(value, 10, 54)
				p.total = time.Duration(n) * time.Microsecond
			}
			if err != nil || !(p.avg10 >= 0 && p.avg10 <= 1) || p.total < 0 {
				return pressure{}, fmt.Errorf("bad line %.80q", line)
			}
		}
		return p, nil
	}
	return pressure{}, errors.New("no line of some")
}
