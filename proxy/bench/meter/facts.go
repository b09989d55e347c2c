package meter

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Facts says what the machine is: cpu, processors, memory, kernel, governor, mitigations. What it does not tell is Unknown.
func (h *Host) Facts() (map[string]string, error) {
	o, err := h.opened()
	if err != nil {
		return nil, err
	}
	model, processors := o.processors()
	return map[string]string{
		"cpu":         known(model),
		"processors":  known(processors),
		"memory":      known(o.totalMemory()),
		"kernel":      known(o.line("proc/sys/kernel/osrelease")),
		"governor":    o.governor(),
		"mitigations": o.mitigations(),
	}, nil
}

func known(text string) string {
	if text == "" {
		return Unknown
	}
	return text
}

// processors returns the model of the CPU and how many there are. Not every architecture names its model.
func (h *host) processors() (model, count string) {
	text, _ := h.text("proc/cpuinfo")
	n := 0
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "processor":
			n++
		case "model name":
			model = strings.TrimSpace(value)
		}
	}
	if n > 0 {
		count = strconv.Itoa(n)
	}
	return model, count
}

func (h *host) totalMemory() string {
	fields := strings.Fields(h.line("proc/meminfo"))
	if len(fields) != 3 || fields[0] != "MemTotal:" {
		return ""
	}
	return fields[1] + " " + fields[2]
}

// eachCPU returns what the processors' files of a name say, each text once.
func (h *host) eachCPU(name string) string {
	entries, _ := fs.ReadDir(h.root, "sys/devices/system/cpu")
	texts := map[string]bool{}
	for _, entry := range entries {
		if !cpuName.MatchString(entry.Name()) {
			continue
		}
		if text := h.line(path.Join("sys/devices/system/cpu", entry.Name(), name)); text != "" {
			texts[text] = true
		}
	}
	return known(strings.Join(slices.Sorted(maps.Keys(texts)), ", "))
}

var cpuName = regexp.MustCompile(`^cpu\d+$`)

// mitigations says how many of the processor's faults the kernel works around, which costs time, and names those that
// it leaves.
func (h *host) mitigations() string {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(h.root, dir)
	if err != nil {
		return Unknown
	}
	mitigated := 0
	var left []string
	for _, entry := range entries {
		switch text := h.line(dir + "/" + entry.Name()); {
		case strings.HasPrefix(text, "Mitigation"):
			mitigated++
		case strings.HasPrefix(text, "Vulnerable"):
			left = append(left, entry.Name())
		}
	}
	text := fmt.Sprintf("%d on", mitigated)
	if len(left) > 0 {
		text += ", vulnerable: " + strings.Join(left, " ")
	}
	return text
}
