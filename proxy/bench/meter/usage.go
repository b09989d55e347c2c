package meter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Where the figures of a Usage come from.
const (
	SourceCgroup = "cgroup" // the tree has a control group for itself
	SourceTree   = "tree"   // the sum over its processes
)

// Usage is what a tree has used since it began, or with Since between two readings. Sizes are in bytes, of the moment of
// the (second) reading. Memory of an arm with a group and of one without must not be compared by unlike figures: the
// PSS is there for both.
type Usage struct {
	Took   time.Duration `json:"took_ns"` // between the readings; zero for one alone
	Source string        `json:"source"`
	// CPU is user and system time, with that of the processes which have ended.
	CPU time.Duration `json:"cpu_ns"`
	// CPUMixed says that children of other pools ended as well, so that CPU has some of their time.
	CPUMixed bool `json:"cpu_mixed,omitempty"`

	Memory             // zero where it was not read, or may not be
	CgroupMemory int64 `json:"cgroup_memory"` // the group's without what the kernel may drop; zero without a group
	// Peak is the most that is known: the group's own between two readings where it rose, else the greater of both.
	Peak int64 `json:"peak"`

	Processes int `json:"processes"`
	Workers   int `json:"workers"` // that answer requests; zero where they are threads
	// Started and Ended count workers that are there in one of two readings and not in the other. Restarts are those
	// replaced. A worker that came and went between them is not seen.
	Started  int `json:"started"`
	Ended    int `json:"ended"`
	Restarts int `json:"restarts"`

	Throttled time.Duration `json:"throttled_ns"` // without a processor because of the group's limit
	OOMKills  int64         `json:"oom_kills"`
	Stalled   Stalled       `json:"stalled"` // of the group

	at    time.Time
	seen  snapshot
	tree  time.Duration
	group *cgroup
}

// Read reads everything. It takes about half a millisecond for each process; ReadCPU is for those who read often.
func (t *Tree) Read() (Usage, error) {
	u, err := t.ReadCPU()
	if err != nil {
		return u, err
	}
	u.Memory, err = t.h.memory(u.seen.processes)
	if errors.Is(err, fs.ErrPermission) {
		err = nil // what one may not see is unknown, and zero
	}
	if u.group == nil {
		u.Peak = u.PSS
	}
	return u, err
}

// ReadCPU is Read without the memory of the processes. It fails with ErrGone when the first of them is another one.
func (t *Tree) ReadCPU() (Usage, error) {
	s, err := t.look()
	if err != nil {
		return Usage{}, fmt.Errorf("read %s: %w", t.Address, err)
	}
	u := Usage{Source: SourceTree, at: time.Now(), seen: s, Processes: len(s.processes), Workers: len(s.workers)}
	for _, p := range s.processes {
		u.tree += p.own + p.reaped
	}
	u.CPU = u.tree
	if dir, ok := t.h.ownCgroup(s); ok {
		c, err := t.h.readCgroup(dir)
		if err != nil {
			return u, fmt.Errorf("read %s: %w", t.Address, err)
		}
		u.Source, u.group = SourceCgroup, &c
		u.CPU, u.Throttled, u.OOMKills, u.Stalled = c.cpu, c.throttled, c.kills, c.stalled
		u.CgroupMemory, u.Peak = c.memory, c.memory
	}
	return u, nil
}

// Since is what was used between an earlier reading of the same tree and u.
func (u Usage) Since(before Usage) Usage {
	d := u
	d.Took = u.at.Sub(before.at)
	d.Source, d.CPU, d.Throttled, d.OOMKills, d.Stalled = SourceTree, u.tree-before.tree, 0, 0, Stalled{}
	d.Started = missing(u.seen.workers, before.seen.workers)
	d.Ended = missing(before.seen.workers, u.seen.workers)
	d.Restarts = min(d.Started, d.Ended)
	for other, had := range before.seen.others {
		if _, there := u.seen.others[other]; !there {
			d.CPU -= had // it is the master's now, and none of this tree's
			d.CPUMixed = true
		}
	}
	d.Peak = max(before.Peak, u.Peak)
	if u.group != nil && before.group != nil {
		now, then := u.group, before.group
		d.Source, d.CPU, d.CPUMixed = SourceCgroup, now.cpu-then.cpu, false
		d.Throttled, d.OOMKills, d.Stalled = now.throttled-then.throttled, now.kills-then.kills, now.stalled.minus(then.stalled)
		if now.peak > then.peak {
			d.Peak = now.peak
		}
	}
	d.CPU = max(d.CPU, 0) // where a process has left the tree with its time
	return d
}

// missing counts those of a list that are not in another one.
func missing(these, from []identity) int {
	n := 0
	for _, id := range these {
		if !slices.Contains(from, id) {
			n++
		}
	}
	return n
}

// Watch reads the tree every so often until ctx ends, and hands each reading to f. It returns nil then, and the error of
// a reading that fails before.
func (t *Tree) Watch(ctx context.Context, every time.Duration, f func(Usage)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		u, err := t.Read()
		if err != nil {
			return err
		}
		f(u)
	}
}
