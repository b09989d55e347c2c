package identity

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
)

// local is the text of an address that clients come to.
type local struct {
	at         netip.AddrPort
	addr, port string
}

// lastLocal is that of the last request: there are few such addresses, and to write them out is three allocations.
var lastLocal atomic.Pointer[local]

// Local returns the address that r's client came to, over TCP or UDP, and its port, both in text. They are empty for other
// connections.
func Local(r *http.Request) (addr, port string) {
	of, ok := r.Context().Value(http.LocalAddrContextKey).(interface{ AddrPort() netip.AddrPort })
	if !ok {
		return "", ""
	}
	at := of.AddrPort()
	if at.Port() == 0 {
		return "", ""
	}
	last := lastLocal.Load()
	if last == nil || last.at != at {
		last = &local{at, at.Addr().Unmap().String(), strconv.Itoa(int(at.Port()))}
		lastLocal.Store(last)
	}
	return last.addr, last.port
}
