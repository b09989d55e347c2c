package identity

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// readXForwarded reads X-Forwarded-For and those beside it from the right. Each proxy adds to the list of addresses;
// of the others it adds to a list too, or writes its own value alone, which then stands for all before it.
func readXForwarded(h http.Header) trail {
	addrs, protos := list(h["X-Forwarded-For"]), list(h["X-Forwarded-Proto"])
	hosts, ports := list(h["X-Forwarded-Host"]), list(h["X-Forwarded-Port"])
	return func() (claim, bool) {
		addr, ok1 := addrs.last()
		proto, ok2 := protos.last()
		host, ok3 := hosts.last()
		port, ok4 := ports.last()
		return claim{parseNode(addr), proto, host, port}, ok1 || ok2 || ok3 || ok4
	}
}

// rightward is what is left of a list that is read from its end.
type rightward struct {
	lines []string
	line  string // what is left of the line behind them
	open  bool   // line is not read to its end
}

func list(lines []string) *rightward { return &rightward{lines: lines} }

// last takes the last item off. It is false when there is none left.
func (l *rightward) last() (string, bool) {
	if !l.open {
		if len(l.lines) == 0 {
			return "", false
		}
		l.line, l.lines, l.open = l.lines[len(l.lines)-1], l.lines[:len(l.lines)-1], true
	}
	comma := strings.LastIndexByte(l.line, ',')
	item := l.line[comma+1:]
	l.open = comma >= 0
	l.line = l.line[:max(comma, 0)]
	return strings.Trim(item, " \t"), true
}

// parseNode reads an address with or without a port: 1.2.3.4, 1.2.3.4:5, ::1, [::1], [::1]:5. Anything else, such as
// "unknown", is the zero value.
func parseNode(text string) netip.AddrPort {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return netip.AddrPortFrom(plain(addr), 0)
	}
	node, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(plain(node.Addr()), node.Port())
}

func portText(port uint16) string {
	if port == 0 {
		return ""
	}
	return strconv.Itoa(int(port))
}
