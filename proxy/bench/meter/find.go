package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// FindByAddress finds the processes that take connections at an address: "unix" and a path, or "tcp" and host:port. Only
// the superuser sees the sockets of other users' processes. Errors: ErrNotAvailable, ErrNobody, fs.ErrPermission.
func (h *Host) FindByAddress(network, addr string) (*Tree, error) {
	o, err := h.opened()
	if err != nil {
		return nil, err
	}
	t, err := o.findByAddress(network, addr)
	if err != nil {
		return nil, fmt.Errorf("who listens on %s: %w", addr, err)
	}
	return t, nil
}

func (h *host) findByAddress(network, addr string) (*Tree, error) {
	a, err := parseAddress(network, addr)
	if err != nil {
		return nil, err
	}
	inodes, err := h.listeners(a)
	if err != nil {
		return nil, err
	}
	owners, denied, err := h.owners(inodes)
	switch {
	case err != nil:
		return nil, err
	case len(owners) == 0 && denied:
		return nil, fmt.Errorf("only the superuser may see: %w", fs.ErrPermission)
	case len(owners) == 0:
		return nil, ErrNobody
	}
	roots := h.roots(slices.Collect(maps.Keys(owners)))
	if network == "unix" && len(roots) > 1 {
		return nil, fmt.Errorf("processes %d and %d both have that path: one of the sockets has been replaced", roots[0].pid, roots[1].pid)
	}
	if why := standsFor(roots[0]); why != "" {
		return nil, errors.New(why)
	}
	t := &Tree{h: h, Network: network, Address: addr, roots: roots, listening: owners, inodes: inodes}
	t.recognise(a)
	return t, nil
}

// standsFor says for whom a process listens that does not serve itself; empty for one that does.
func standsFor(p process) string {
	switch {
	case p.name == "docker-proxy":
		return "docker-proxy, for a container: give the container's own address"
	case isInit(p):
		return "systemd, which has not started the service yet"
	}
	return ""
}

// listeners looks in our own network namespace and then in the others, those of containers.
func (h *host) listeners(a address) ([]uint64, error) {
	dirs, err := h.namespaces()
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if i > 0 && (a.path != "" || a.isLoopback()) {
			break // in a container the same path or address is another one
		}
		all, err := h.sockets(dir)
		if err != nil && i > 0 {
			continue // its process has ended, or is not ours to look at
		}
		if err != nil {
			return nil, err
		}
		if found := a.listeners(all, h.localIn(dir)); len(found) > 0 {
			return found, nil
		}
	}
	return nil, ErrNobody
}

func (a address) isLoopback() bool {
	for _, ip := range a.ips {
		if ip.IsLoopback() {
			return true
		}
	}
	return false
}

// namespaces returns one folder of sockets for each network namespace, our own first.
func (h *host) namespaces() ([]string, error) {
	pids, err := h.pids()
	if err != nil {
		return nil, err
	}
	dirs := []string{"proc/net"}
	own, _ := h.link("proc/self/ns/net")
	seen := map[string]bool{own: true, "": true}
	for _, pid := range pids {
		namespace, err := h.link(procDir(pid) + "/ns/net")
		if err != nil || seen[namespace] {
			continue
		}
		seen[namespace] = true
		dirs = append(dirs, procDir(pid)+"/net")
	}
	return dirs, nil
}

// owners returns the processes that hold one of the sockets, and the descriptor by which they do. denied says that
// there were processes which may not be looked at.
func (h *host) owners(inodes []uint64) (owners map[int]string, denied bool, err error) {
	pids, err := h.pids()
	if err != nil {
		return nil, false, err
	}
	owners = map[int]string{}
	for _, pid := range pids {
		entries, err := fs.ReadDir(h.root, procDir(pid)+"/fd")
		if err != nil {
			denied = denied || errors.Is(err, fs.ErrPermission)
			continue
		}
		for _, entry := range entries {
			inode, ok := h.socketLink(procDir(pid) + "/fd/" + entry.Name())
			if ok && slices.Contains(inodes, inode) {
				owners[pid] = entry.Name()
				break
			}
		}
	}
	return owners, denied, nil
}

// roots returns the first processes of the trees that pids belong to.
func (h *host) roots(pids []int) []process {
	var roots []process
	for _, pid := range pids {
		p, ok := h.top(pid, pids)
		if ok && !slices.ContainsFunc(roots, func(r process) bool { return r.pid == p.pid }) {
			roots = append(roots, p)
		}
	}
	slices.SortFunc(roots, func(a, b process) int { return a.pid - b.pid })
	if len(roots) > 1 && isInit(roots[0]) {
		roots = roots[1:] // systemd keeps the sockets that it opens for others
	}
	return roots
}

func isInit(p process) bool { return p.pid == 1 && (p.name == "systemd" || p.name == "init") }

// top climbs from a process to the furthest ancestor that is one of pids, and on to those that have started it as a part
// of themselves.
func (h *host) top(pid int, pids []int) (process, bool) {
	p, err := h.process(pid)
	if err != nil {
		return process{}, false
	}
	found, linked := p, true
	for p.parent > 0 {
		if p, err = h.process(p.parent); err != nil || isInit(p) {
			break
		}
		if linked = slices.Contains(pids, p.pid) || linked && starts(h.command(p.pid)); linked {
			found = p
		}
	}
	return found, true
}

// FindByName finds the processes of a program and all that descend from them, such as those of a database. name is that
// of the program's file, or what ps calls the process.
func (h *Host) FindByName(name string) (*Tree, error) {
	o, err := h.opened()
	if err != nil {
		return nil, err
	}
	pids, err := o.pids()
	if err != nil {
		return nil, err
	}
	var named []int
	for _, pid := range pids {
		if p, err := o.process(pid); err == nil && o.isNamed(p, name) {
			named = append(named, pid)
		}
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("program %s: %w", name, ErrNobody)
	}
	t := &Tree{h: o, Address: name, Kind: KindGroup, roots: o.roots(named)}
	return t, nil
}

func (h *host) isNamed(p process, name string) bool {
	const most = 15 // bytes that the kernel keeps
	if p.name == name[:min(len(name), most)] {
		return true
	}
	command := h.command(p.pid)
	return len(command) > 0 && program(command[0]) == name
}
