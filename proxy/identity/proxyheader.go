package identity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
)

// proxyHeader is what a PROXY protocol header says of a connection. Without addresses, the connection is the
// proxy's own, such as its health check, or of a kind that has none, and stays what it is.
type proxyHeader struct {
	source, destination netip.AddrPort
}

// errShort is a header of which more has to come.
var errShort = errors.New("the PROXY protocol header is not whole")

// Faults of a header.
var (
	errNoHeader  = errors.New("no PROXY protocol header where a trusted proxy has to send one")
	errBadHeader = errors.New("malformed PROXY protocol header")
)

const (
	v1Most    = 107 // bytes of the longest line of version 1, its end included
	v2Head    = 16  // bytes in front of the addresses of version 2
	v1Opening = "PROXY "
	v2Opening = "\r\n\r\n\x00\r\nQUIT\n"
)

// parseProxyHeader reads the header of either version at the beginning of b and returns how long it is. It is
// errShort as long as b may be the beginning of one. What version 2 carries behind the addresses is skipped.
func parseProxyHeader(b []byte) (proxyHeader, int, error) {
	switch {
	case begins(b, v2Opening):
		return parseV2(b)
	case begins(b, v1Opening):
		return parseV1(b)
	}
	return proxyHeader{}, 0, errNoHeader
}

// begins says whether b begins with opening, or is the beginning of it.
func begins(b []byte, opening string) bool {
	n := min(len(b), len(opening))
	return string(b[:n]) == opening[:n]
}

// parseV1 reads "PROXY TCP4 SOURCE DESTINATION PORT PORT\r\n".
func parseV1(b []byte) (proxyHeader, int, error) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end < 0 && len(b) < v1Most:
		return proxyHeader{}, 0, errShort
	case end < 1 || end >= v1Most || b[end-1] != '\r':
		return proxyHeader{}, 0, errBadHeader
	}
	line := string(b[:end-1])
	if line == "PROXY UNKNOWN" || strings.HasPrefix(line, "PROXY UNKNOWN ") {
		return proxyHeader{}, end + 1, nil
	}
	fields := strings.Split(line, " ")
	if len(fields) != 6 || fields[1] != "TCP4" && fields[1] != "TCP6" {
		return proxyHeader{}, 0, errBadHeader
	}
	is4 := fields[1] == "TCP4"
	source, ok1 := parseV1Address(fields[2], fields[4], is4)
	destination, ok2 := parseV1Address(fields[3], fields[5], is4)
	if !ok1 || !ok2 {
		return proxyHeader{}, 0, errBadHeader
	}
	return proxyHeader{source, destination}, end + 1, nil
}

func parseV1Address(addr, port string, is4 bool) (netip.AddrPort, bool) {
	ip, err := netip.ParseAddr(addr)
	if err != nil || ip.Is4() != is4 || ip.Zone() != "" {
		return netip.AddrPort{}, false
	}
	n, ok := parsePort(port)
	return netip.AddrPortFrom(ip.Unmap(), n), ok
}

// parsePort reads digits without a sign or a zero in front.
func parsePort(text string) (uint16, bool) {
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' || i > 0 && n == 0 {
			return 0, false
		}
		if n = n*10 + int(text[i]-'0'); n > 65535 {
			return 0, false
		}
	}
	return uint16(n), text != ""
}

// parseV2 reads the binary form: the opening, version and command, family and protocol, and the length of the rest.
func parseV2(b []byte) (proxyHeader, int, error) {
	if len(b) < v2Head {
		return proxyHeader{}, 0, errShort
	}
	command, family := b[12], b[13]
	whole := v2Head + int(binary.BigEndian.Uint16(b[14:]))
	if command != 0x20 && command != 0x21 {
		return proxyHeader{}, 0, errBadHeader
	}
	if len(b) < whole {
		return proxyHeader{}, 0, errShort
	}
	if command == 0x20 { // LOCAL: the proxy speaks for itself
		return proxyHeader{}, whole, nil
	}
	header, err := parseV2Addresses(b[v2Head:whole], family)
	return header, whole, err
}

func parseV2Addresses(b []byte, family byte) (proxyHeader, error) {
	size := 0
	switch family {
	case 0x00, 0x31, 0x32: // unspecified, and unix sockets, which have no addresses of ours
		return proxyHeader{}, nil
	case 0x11:
		size = 4
	case 0x21:
		size = 16
	default:
		return proxyHeader{}, errBadHeader
	}
	if len(b) < 2*size+4 {
		return proxyHeader{}, errBadHeader
	}
	source, _ := netip.AddrFromSlice(b[:size])
	destination, _ := netip.AddrFromSlice(b[size : 2*size])
	ports := b[2*size:]
	return proxyHeader{
		netip.AddrPortFrom(source.Unmap(), binary.BigEndian.Uint16(ports)),
		netip.AddrPortFrom(destination.Unmap(), binary.BigEndian.Uint16(ports[2:])),
	}, nil
}
