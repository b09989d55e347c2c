//go:build !linux

package fastcgi

import "net"

func connectUnix(addr *net.UnixAddr) (net.Conn, error) { return net.DialUnix(addr.Net, nil, addr) }
