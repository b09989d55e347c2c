// Package limit holds what keeps a client from taking more than its part, or from getting in at all: counts and rates
// by address, passwords, an authority that is asked, and an application that is down for maintenance.
package limit

import (
	"net/netip"
	"sync"
)

// shards is over how many locks addresses are spread.
const shards = 64

// Network returns what stands for the client at addr: an IPv4 address for itself, an IPv6 one for its /64, of which
// one client has them all.
func Network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(64) // 64 is always in range
		return network.Addr()
	}
	return addr
}

// Counter counts what each client has at once. It keeps nothing of those that have nothing. The zero Counter is
// ready; it may be used concurrently.
type Counter struct {
	parts [shards]counterPart
}

type counterPart struct {
	mu    sync.Mutex // guards count
	count map[netip.Addr]int
}

// Take counts one more for the client at addr, unless it has most already. What was taken must be given back.
func (c *Counter) Take(addr netip.Addr, most int) bool {
	network := Network(addr)
	part := c.part(network)
	part.mu.Lock()
	defer part.mu.Unlock()
	if part.count[network] >= most {
		return false
	}
	if part.count == nil {
		part.count = make(map[netip.Addr]int)
	}
	part.count[network]++
	return true
}

// Give counts one less.
func (c *Counter) Give(addr netip.Addr) {
	network := Network(addr)
	part := c.part(network)
	part.mu.Lock()
	defer part.mu.Unlock()
	if part.count[network]--; part.count[network] <= 0 {
		delete(part.count, network)
	}
}

func (c *Counter) part(network netip.Addr) *counterPart {
	b := network.As16()
	sum := byte(0)
	for _, one := range b {
		sum = sum*31 + one
	}
	return &c.parts[sum%shards]
}
