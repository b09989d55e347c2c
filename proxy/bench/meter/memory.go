package meter

import (
	"fmt"
	"strconv"
	"strings"
)

// Memory is what processes hold, in bytes. A page that several of them share counts in parts: the sums are what would
// be free without them.
type Memory struct {
	PSS      int64 `json:"pss"`
	PSSAnon  int64 `json:"pss_anon"`
	PSSShmem int64 `json:"pss_shmem"` // OPcache's segment, which all pools of an FPM master share, and Swoole's tables
	// RSS counts shared pages once for each process: the sum says nothing, and is there to be compared with other tools.
	RSS int64 `json:"rss"`
}

func (m Memory) plus(other Memory) Memory {
	return Memory{m.PSS + other.PSS, m.PSSAnon + other.PSSAnon, m.PSSShmem + other.PSSShmem, m.RSS + other.RSS}
}

// memory adds up the memory of processes, which takes the kernel about half a millisecond for each. Other users'
// processes may be looked at by the superuser only.
func (h *host) memory(processes []process) (Memory, error) {
	var sum Memory
	for _, p := range processes {
		text, err := h.text(procDir(p.pid) + "/smaps_rollup")
		if gone(err) {
			continue
		}
		if err != nil {
			return Memory{}, err
		}
		m, err := parseSmaps(text)
		if err != nil {
			return Memory{}, fmt.Errorf("process %d: %w", p.pid, err)
		}
		sum = sum.plus(m)
	}
	return sum, nil
}

// parseSmaps reads smaps_rollup. That of a process which is about to end is empty.
func parseSmaps(text string) (Memory, error) {
	var m Memory
	fields := map[string]*int64{"Pss:": &m.PSS, "Pss_Anon:": &m.PSSAnon, "Pss_Shmem:": &m.PSSShmem, "Rss:": &m.RSS}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 3 || words[2] != "kB" || fields[words[0]] == nil {
			continue
		}
		n, err := strconv.ParseInt(words[1], 10, 48)
		if err != nil || n < 0 {
			return Memory{}, fmt.Errorf("smaps_rollup: bad line %.80q", line)
		}
		*fields[words[0]] = n << 10
	}
	return m, nil
}
