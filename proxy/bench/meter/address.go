package meter

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
)

// address is what is looked for.
type address struct {
	path string       // of a unix socket, as it was given
	real string       // the same with its symbolic links followed
	ips  []netip.Addr // of TCP
	port uint16
}

// parseAddress takes "unix" and a path, or "tcp" and host:port. A name of a host is looked up.
func parseAddress(network, addr string) (address, error) {
	if network == "unix" {
		return address{path: addr, real: realPath(addr)}, nil
	}
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return address{}, err
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		return address{}, err
	}
	a := address{port: uint16(n)}
	if ip, err := netip.ParseAddr(name); err == nil {
		a.ips = []netip.Addr{ip.Unmap().WithZone("")}
		return a, nil
	}
	if a.ips, err = net.DefaultResolver.LookupNetIP(context.Background(), "ip", name); err != nil {
		return address{}, err
	}
	for i := range a.ips {
		a.ips[i] = a.ips[i].Unmap()
	}
	return a, nil
}

// realPath follows the links of a path: /var/run is one to /run. A path that is not there stays as it is.
func realPath(name string) string {
	if name, err := filepath.EvalSymlinks(name); err == nil {
		return name
	}
	return name
}

// listeners are the sockets among all that take connections for a. mine says whether an address is one of the namespace
// that the sockets are of: who listens on all addresses listens on those only. The one that names the address wins.
func (a address) listeners(all []socket, mine func(netip.Addr) bool) []uint64 {
	var exact, wild []uint64
	for _, s := range all {
		switch {
		case !s.listening || s.inode == 0:
		case a.path != "":
			if s.path == a.path || s.path != "" && (s.path == a.real || realPath(s.path) == a.real) {
				exact = append(exact, s.inode)
			}
		case s.local.Port() != a.port:
		default:
			for _, ip := range a.ips {
				if s.local.Addr() == ip {
					exact = append(exact, s.inode)
				} else if takes(s.local.Addr(), ip) && mine(ip) {
					wild = append(wild, s.inode)
				}
			}
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return wild
}

// takes says whether who listens on bound may be reached at ip: an IPv6 socket takes IPv4 as well, unless told otherwise.
func takes(bound, ip netip.Addr) bool {
	return bound.IsUnspecified() && (bound.Is6() || ip.Is4())
}

// localIn returns whether an address belongs to the namespace whose folder dir is.
func (h *host) localIn(dir string) func(netip.Addr) bool {
	return func(ip netip.Addr) bool {
		if ip.IsLoopback() || ip.IsUnspecified() {
			return true
		}
		if ip.Is4() {
			text, _ := h.text(dir + "/fib_trie")
			return hasLocal4(text, ip)
		}
		text, _ := h.text(dir + "/if_inet6")
		return strings.Contains(text, fmt.Sprintf("%x ", ip.As16()))
	}
}

// hasLocal4 looks through the routes for the address, which is there once for every table, and local in one of them:
//
//	|-- 172.17.0.2
//	   /32 host LOCAL
func hasLocal4(trie string, ip netip.Addr) bool {
	wanted := "|-- " + ip.String()
	for {
		_, rest, found := strings.Cut(trie, wanted+"\n")
		if !found {
			return false
		}
		line, _, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) == "/32 host LOCAL" {
			return true
		}
		trie = rest
	}
}
