package identity

import (
	"net/netip"

	"github.com/gaissmai/bart"
)

// Set is a set of networks. A nil Set is empty. It is safe for concurrent use, as nothing changes it.
type Set struct{ table bart.Lite }

// NewSet returns the set of networks, or nil when there are none. Mapped IPv4 networks count as IPv4.
func NewSet(networks []netip.Prefix) *Set {
	if len(networks) == 0 {
		return nil
	}
	s := new(Set)
	for _, network := range networks {
		s.table.Insert(unmapped(network))
	}
	return s
}

// Has says whether addr is in one of the networks. The zero Addr is in none.
func (s *Set) Has(addr netip.Addr) bool {
	return s != nil && addr.IsValid() && s.table.Contains(plain(addr))
}

func unmapped(network netip.Prefix) netip.Prefix {
	if addr := network.Addr(); addr.Is4In6() && network.Bits() >= 96 {
		return netip.PrefixFrom(addr.Unmap(), network.Bits()-96).Masked()
	}
	return network.Masked()
}
