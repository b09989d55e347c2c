package meter

import (
	"io/fs"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// pool is a section of FPM's configuration, which has settings such as pm.max_children.
type pool struct {
	Name     string
	settings map[string]string
}

// Listen is where the pool takes connections: a path, a port, or an address with one.
func (p pool) Listen() string { return p.settings["listen"] }

// listensAt says whether the pool listens at a TCP address. A pool that names only a port listens on all addresses.
func (p pool) listensAt(a address) bool {
	listen := p.Listen()
	if port, err := strconv.ParseUint(listen, 10, 16); err == nil {
		return uint16(port) == a.port
	}
	bound, err := netip.ParseAddrPort(listen)
	if err != nil || bound.Port() != a.port {
		return false
	}
	for _, ip := range a.ips {
		if bound.Addr().Unmap() == ip || takes(bound.Addr(), ip) {
			return true
		}
	}
	return false
}

// fpmPools reads the configuration that a master names in its title. It is what FPM has read if nobody has changed it
// since; empty where it may not be read.
func (h *host) fpmPools(master int) []pool {
	_, file, found := strings.Cut(title(h.command(master)), fpmMaster+" (")
	if !found {
		return nil
	}
	r := fpmReader{h: h, master: master}
	r.read(strings.TrimSuffix(file, ")"), 0)
	return r.pools
}

type fpmReader struct {
	h      *host
	master int
	pools  []pool
}

// read adds what a file says, and those that it includes.
func (r *fpmReader) read(file string, depth int) {
	const deepest = 8
	text, err := r.h.text(inside(r.master, file))
	if err != nil || depth > deepest {
		return
	}
	for line := range strings.Lines(text) {
		name, key, value := parseSetting(line)
		switch {
		case name == "global":
			r.pools = append(r.pools, pool{})
		case name != "":
			r.pools = append(r.pools, pool{Name: name, settings: map[string]string{}})
		case key == "include":
			r.include(file, value, depth)
		case key != "" && len(r.pools) > 0 && r.pools[len(r.pools)-1].settings != nil:
			last := r.pools[len(r.pools)-1]
			last.settings[key] = strings.ReplaceAll(value, "$pool", last.Name)
		}
	}
}

// include reads the files of a pattern. A relative one begins where PHP was installed, above its folder etc.
func (r *fpmReader) include(from, pattern string, depth int) {
	if etc := path.Dir(from); !path.IsAbs(pattern) {
		if path.Base(etc) != "etc" {
			return
		}
		pattern = path.Join(path.Dir(etc), pattern)
	}
	// In a bad pattern there is nothing to be found, for FPM as well.
	files, _ := fs.Glob(r.h.root, inside(r.master, pattern))
	root := path.Join(procDir(r.master), "root")
	for _, file := range files {
		r.read(strings.TrimPrefix(file, root), depth+1)
	}
}

// parseSetting reads a line of an ini file: [section], or key = value. All is empty for any other line.
func parseSetting(line string) (section, key, value string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == ';' || line[0] == '#' {
		return "", "", ""
	}
	if name, ok := strings.CutPrefix(line, "["); ok {
		name, _, _ = strings.Cut(name, "]")
		return strings.TrimSpace(name), "", ""
	}
	key, value, _ = strings.Cut(line, "=")
	value = strings.TrimSpace(value)
	if len(value) > 1 && value[0] == '"' {
		value, _, _ = strings.Cut(value[1:], `"`)
	} else {
		value, _, _ = strings.Cut(value, ";")
	}
	return "", strings.TrimSpace(key), strings.TrimSpace(value)
}
