package limit

import (
	"net/netip"
	"sync"
	"testing"
)

func TestCounterCountsByAddress(t *testing.T) {
	var c Counter
	one, other := netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("1.2.3.5")
	if !c.Take(one, 2) || !c.Take(netip.MustParseAddr("::ffff:1.2.3.4"), 2) || c.Take(one, 2) {
		t.Error("want two of the same address, mapped or not, and no third")
	}
	if !c.Take(other, 2) {
		t.Error("another address pays for the first")
	}
	c.Give(one)
	if !c.Take(one, 2) {
		t.Error("what was given back cannot be taken again")
	}
}

// A client has a whole /64 to choose its addresses from.
func TestCounterTakesANetworkOfIPv6ForOneClient(t *testing.T) {
	var c Counter
	if !c.Take(netip.MustParseAddr("2001:db8::1"), 1) || c.Take(netip.MustParseAddr("2001:db8::ffff:2"), 1) {
		t.Error("want the addresses of a /64 counted as one")
	}
	if !c.Take(netip.MustParseAddr("2001:db8:0:1::1"), 1) {
		t.Error("the next /64 pays for the first")
	}
}

func TestCounterForgetsWhoHasNothing(t *testing.T) {
	var c Counter
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 1000 {
				addr := netip.AddrFrom4([4]byte{10, byte(i), byte(n >> 8), byte(n)})
				c.Take(addr, 1)
				c.Give(addr)
			}
		})
	}
	group.Wait()
	for i := range c.parts {
		if n := len(c.parts[i].count); n > 0 {
			t.Errorf("%d addresses kept", n)
		}
	}
}
