package meter

import "fmt"

// ConnectionsTo counts the open connections of the tree's processes to a TCP port, here or on another machine, such as
// that of a database.
func (t *Tree) ConnectionsTo(port uint16) (int, error) {
	return t.count(func(s socket) bool { return s.connected && s.remote.Port() == port })
}

// Connections counts the open connections that the tree has taken: on the TCP ports and the unix sockets where it
// listens, from whomever.
func (t *Tree) Connections() (int, error) {
	pids, held, err := t.held()
	if err != nil {
		return 0, err
	}
	all, err := t.h.sockets(procDir(pids[0]) + "/net")
	if err != nil {
		return 0, err
	}
	ports, paths := map[uint16]bool{}, map[string]bool{}
	for _, s := range all {
		if !s.listening || !held[s.inode] {
			continue
		}
		if s.path != "" {
			paths[s.path] = true
		} else {
			ports[s.local.Port()] = true
		}
	}
	n := 0
	for _, s := range all {
		if s.connected && held[s.inode] && (paths[s.path] || ports[s.local.Port()]) {
			n++
		}
	}
	return n, nil
}

func (t *Tree) count(ok func(socket) bool) (int, error) {
	pids, held, err := t.held()
	if err != nil {
		return 0, err
	}
	all, err := t.h.sockets(procDir(pids[0]) + "/net")
	n := 0
	for _, s := range all {
		if held[s.inode] && ok(s) {
			n++
		}
	}
	return n, err
}

// held returns the tree's processes and the sockets that they hold.
func (t *Tree) held() ([]int, map[uint64]bool, error) {
	pids, err := t.Pids()
	if err != nil {
		return nil, nil, err
	}
	held := map[uint64]bool{}
	for _, pid := range pids {
		inodes, err := t.h.inodes(pid)
		if err != nil && !gone(err) {
			return nil, nil, fmt.Errorf("connections of process %d: %w", pid, err)
		}
		for inode := range inodes {
			held[inode] = true
		}
	}
	return pids, held, nil
}
