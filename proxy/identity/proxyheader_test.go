package identity

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// v2 is a header of version 2.
func v2(command, family byte, addresses string) string {
	length := binary.BigEndian.AppendUint16(nil, uint16(len(addresses)))
	return v2Opening + string([]byte{command, family}) + string(length) + addresses
}

const (
	addresses4 = "\x01\x02\x03\x04\x05\x06\x07\x08\x30\x39\x01\xbb"
	// 2001:db8::1 and ::ffff:5.6.7.8
	addresses6 = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x05\x06\x07\x08\x30\x39\x01\xbb"
)

var headers = []struct {
	name, in, source, destination string
	err                           error
}{
	{name: "v1 over IPv4", in: "PROXY TCP4 1.2.3.4 5.6.7.8 12345 443\r\n", source: "1.2.3.4:12345", destination: "5.6.7.8:443"},
	{name: "v1 over IPv6", in: "PROXY TCP6 2001:db8::1 ::1 1 65535\r\n", source: "[2001:db8::1]:1", destination: "[::1]:65535"},
	{name: "v1 with a mapped address", in: "PROXY TCP6 ::ffff:1.2.3.4 ::1 1 2\r\n", source: "1.2.3.4:1", destination: "[::1]:2"},
	{name: "v1 unknown", in: "PROXY UNKNOWN\r\n"},
	{name: "v1 unknown with addresses", in: "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"},
	{name: "v1 without CR", in: "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n", err: errBadHeader},
	{name: "v1 of the wrong family", in: "PROXY TCP4 ::1 ::1 1 2\r\n", err: errBadHeader},
	{name: "v1 with a zone", in: "PROXY TCP6 fe80::1%a ::1 1 2\r\n", err: errBadHeader},
	{name: "v1 with a port out of range", in: "PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n", err: errBadHeader},
	{name: "v1 with a signed port", in: "PROXY TCP4 1.2.3.4 5.6.7.8 +1 2\r\n", err: errBadHeader},
	{name: "v1 with a zero in front", in: "PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n", err: errBadHeader},
	{name: "v1 without ports", in: "PROXY TCP4 1.2.3.4 5.6.7.8\r\n", err: errBadHeader},
	{name: "v1 with two spaces", in: "PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n", err: errBadHeader},
	{name: "v1 of another protocol", in: "PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n", err: errBadHeader},
	{name: "v1 that is too long", in: "PROXY UNKNOWN " + strings.Repeat("x", 100) + "\r\n", err: errBadHeader},
	{name: "v1 without end", in: "PROXY UNKNOWN " + strings.Repeat("x", 100), err: errBadHeader},
	{name: "v2 over IPv4", in: v2(0x21, 0x11, addresses4), source: "1.2.3.4:12345", destination: "5.6.7.8:443"},
	{name: "v2 over IPv6", in: v2(0x21, 0x21, addresses6), source: "[2001:db8::1]:12345", destination: "5.6.7.8:443"},
	{name: "v2 with more behind", in: v2(0x21, 0x11, addresses4+"\x20\x00\x05\x01\x00\x00\x00\x00"), source: "1.2.3.4:12345", destination: "5.6.7.8:443"},
	{name: "v2 local", in: v2(0x20, 0x00, "")},
	{name: "v2 local with addresses", in: v2(0x20, 0x11, addresses4)},
	{name: "v2 unspecified", in: v2(0x21, 0x00, "whatever")},
	{name: "v2 over a unix socket", in: v2(0x21, 0x31, strings.Repeat("\x00", 216))},
	{name: "v2 over UDP", in: v2(0x21, 0x12, addresses4), err: errBadHeader},
	{name: "v2 without its addresses", in: v2(0x21, 0x11, addresses4[:8]), err: errBadHeader},
	{name: "v2 of another version", in: v2(0x11, 0x11, addresses4), err: errBadHeader},
	{name: "v2 with another command", in: v2(0x22, 0x11, addresses4), err: errBadHeader},
	{name: "HTTP", in: "GET / HTTP/1.1\r\n\r\n", err: errNoHeader},
	{name: "a POST, which begins as v1 does", in: "POST / HTTP/1.1\r\n\r\n", err: errNoHeader},
	{name: "TLS", in: "\x16\x03\x01\x02\x00\x01\x00", err: errNoHeader},
}

func TestProxyHeader(t *testing.T) {
	const more = "GET / HTTP/1.1\r\n"
	for _, c := range headers {
		got, size, err := parseProxyHeader([]byte(c.in + more))
		if c.err != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.err)
			}
			continue
		}
		if err != nil || size != len(c.in) || textOf(got.source) != c.source || textOf(got.destination) != c.destination {
			t.Errorf("%s: %v, %d bytes, %v; want %s to %s, %d bytes", c.name, got, size, err, c.source, c.destination, len(c.in))
		}
	}
}

func textOf(addr netip.AddrPort) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

// A header may come in pieces of any size; no beginning of a good one may be taken for something else.
func TestProxyHeaderInPieces(t *testing.T) {
	for _, c := range headers {
		if c.err != nil {
			continue
		}
		for n := range len(c.in) {
			if _, _, err := parseProxyHeader([]byte(c.in[:n])); !errors.Is(err, errShort) {
				t.Errorf("%s, first %d bytes: %v, want %v", c.name, n, err, errShort)
			}
		}
	}
}

// FuzzProxyHeader looks for panics, for sizes that are none, and for headers whose beginning is read as another.
func FuzzProxyHeader(f *testing.F) {
	for _, c := range headers {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		header, size, err := parseProxyHeader(b)
		if err != nil {
			if header != (proxyHeader{}) {
				t.Errorf("%v beside %v", header, err)
			}
			return
		}
		if size < len("PROXY UNKNOWN\r\n") || size > len(b) || header.source.IsValid() != header.destination.IsValid() {
			t.Fatalf("%v, %d of %d bytes", header, size, len(b))
		}
		if again, n, err := parseProxyHeader(b[:size]); again != header || n != size || err != nil {
			t.Errorf("alone it is %v, %d, %v; with more behind %v, %d", again, n, err, header, size)
		}
		if _, _, err := parseProxyHeader(b[:size-1]); err != errShort {
			t.Errorf("without its last byte: %v", err)
		}
	})
}
