package meter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Tree is a backend as the machine sees it: its first process and all that descend from it. It stays the same tree
// while its workers come and go. It may be read concurrently.
type Tree struct {
	Network, Address string // where it was found; for a group, Address is its name
	Kind             Kind
	// Pool is FPM's, whose children the tree has besides the master. Empty means all pools of the master.
	Pool string

	h         *host
	roots     []process
	listening map[int]string // who held the socket when the tree was found, and as which descriptor
	inodes    []uint64       // of the socket
}

// Pid is the first process of the tree.
func (t *Tree) Pid() int { return t.roots[0].pid }

// Pids returns the processes of the tree as they are now, the first one first.
func (t *Tree) Pids() ([]int, error) {
	s, err := t.look()
	pids := make([]int, len(s.processes))
	for i, p := range s.processes {
		pids[i] = p.pid
	}
	return pids, err
}

// snapshot is a tree at one moment.
type snapshot struct {
	processes []process
	workers   []identity
	// others are the master's children of other pools, with the time that they have had: when they end, it becomes part
	// of the master's.
	others map[identity]time.Duration

	tolerant bool // of processes that end meanwhile
}

var errChanged = errors.New("processes ended while they were looked at")

// look takes a snapshot. Where a process ends meanwhile its time may be missing, so that all is done again; a tree that
// never keeps still is taken as it is.
func (t *Tree) look() (snapshot, error) {
	const attempts = 10
	for attempt := 1; ; attempt++ {
		s := snapshot{others: map[identity]time.Duration{}, tolerant: attempt == attempts}
		err := t.lookOnce(&s)
		if errors.Is(err, errChanged) && attempt < attempts {
			continue
		}
		s.workers = t.workers(s)
		return s, err
	}
}

func (t *Tree) lookOnce(s *snapshot) error {
	for _, root := range t.roots {
		now, err := t.h.process(root.pid)
		if gone(err) || err == nil && now.identity != root.identity {
			return fmt.Errorf("%w: %s, %d", ErrGone, root.name, root.pid)
		}
		if err == nil {
			err = t.visit(s, root.pid, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visit adds a process and what descends from it. The order is what makes the sum right: a child that ends after the
// list was made is either in the time of its parent, which is read next, or not there any more when its turn comes.
func (t *Tree) visit(s *snapshot, pid int, isRoot bool) error {
	children, err := t.h.children(pid)
	if err == nil {
		var p process
		p, err = t.h.measure(pid)
		s.processes = append(s.processes, p)
	}
	if gone(err) {
		return errChanged
	}
	if err != nil {
		return err
	}
	for _, child := range children {
		if isRoot && t.isOther(child) {
			err = s.setAside(t.h, child)
		} else {
			err = t.visit(s, child, false)
		}
		if err != nil && !(s.tolerant && errors.Is(err, errChanged)) {
			return err
		}
	}
	return nil
}

func (s *snapshot) setAside(h *host, pid int) error {
	p, err := h.measure(pid)
	if gone(err) {
		return errChanged
	}
	if err == nil {
		s.others[p.identity] = p.own
	}
	return err
}

// measure reads a process with the best clock that there is.
func (h *host) measure(pid int) (process, error) {
	p, err := h.process(pid)
	if err == nil && h.clock != nil {
		p.own, err = h.clock(pid)
	}
	return p, err
}

// isOther says whether a child of FPM's master belongs to another pool.
func (t *Tree) isOther(pid int) bool {
	return t.Pool != "" && title(t.h.command(pid)) != fpmPool+t.Pool
}

// workers returns those processes of a snapshot that answer requests.
func (t *Tree) workers(s snapshot) []identity {
	parents := map[int]bool{}
	for _, p := range s.processes {
		parents[p.parent] = true
	}
	switch t.Kind {
	case KindFPM:
		return t.titled(s, fpmPool+t.Pool)
	case KindSwoole:
		if found := t.titled(s, swooleTitle+"worker process"); len(found) > 0 {
			return found
		}
	case KindRoadRunner:
		return choose(s, func(p process) bool { return !parents[p.pid] && kindOf(t.h.command(p.pid)) == KindPHP })
	case KindFrankenPHP, KindGroup:
		return nil
	}
	return choose(s, func(p process) bool { return !parents[p.pid] && t.holdsSocket(p.pid) })
}

func (t *Tree) titled(s snapshot, prefix string) []identity {
	return choose(s, func(p process) bool { return strings.HasPrefix(title(t.h.command(p.pid)), prefix) })
}

func choose(s snapshot, ok func(process) bool) []identity {
	var chosen []identity
	for _, p := range s.processes {
		if ok(p) {
			chosen = append(chosen, p.identity)
		}
	}
	return chosen
}

// holdsSocket says whether a process has the listening socket as the descriptor under which others had it: what is
// forked has its descriptors from its parent. To look at all of them would take long where there are many connections.
// A process that may not be looked at counts as one that has it.
func (t *Tree) holdsSocket(pid int) bool {
	for _, descriptor := range t.listening {
		name := procDir(pid) + "/fd/" + descriptor
		if _, err := t.h.link(name); err != nil && !gone(err) {
			return true
		}
		if inode, ok := t.h.socketLink(name); ok && slices.Contains(t.inodes, inode) {
			return true
		}
	}
	return false
}
