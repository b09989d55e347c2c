package proxy

import (
	"net"
	"strings"
	"time"

	"gateway/proxy/identity"
)

// sniffed is a connection of which the first bytes have been read to know its protocol, and are read again.
type sniffed struct {
	net.Conn
	first []byte
}

func (c *sniffed) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// sniff says whether nc begins as HTTP/2 does. It reads no further than it takes to know. After an error, which is the
// client's, nothing more will come.
func sniff(nc net.Conn, timeout time.Duration) (conn net.Conn, isHTTP2 bool, err error) {
	first := make([]byte, 0, prefaceSize)
	if err := nc.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, false, err
	}
	for len(first) < prefaceSize && strings.HasPrefix(http2Preface, string(first)) {
		n, err := nc.Read(first[len(first):prefaceSize])
		first = first[:len(first)+n]
		if err != nil {
			return nil, false, err
		}
	}
	return &sniffed{nc, first}, string(first) == http2Preface, nc.SetReadDeadline(time.Time{})
}

// isProxied says whether nc comes from a proxy that is trusted. With the PROXY protocol, nothing else does.
func (d *door) isProxied(nc net.Conn) bool {
	if d == nil {
		return false
	}
	if _, ok := nc.(*identity.Conn); ok {
		return true
	}
	return d.resolver.Trusts(addressOf(nc))
}
