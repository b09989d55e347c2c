package meter

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strconv"
	"strings"
)

// socket is a line of /proc/net/tcp, tcp6 or unix.
type socket struct {
	local, remote netip.AddrPort // of TCP
	path          string         // of a unix socket that is bound to a file
	listening     bool
	connected     bool
	inode         uint64 // 0 when no process holds it any more
}

// sockets returns the TCP and unix sockets of a network namespace. dir is its folder: proc/net, or proc/PID/net.
func (h *host) sockets(dir string) ([]socket, error) {
	var all []socket
	for name, parse := range map[string]func(string) (socket, error){
		"tcp": parseTCP, "tcp6": parseTCP, "unix": parseUnix,
	} {
		text, err := h.text(dir + "/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6 here
		}
		if err != nil {
			return nil, err
		}
		_, lines, _ := strings.Cut(text, "\n") // the first one names the columns
		for line := range strings.Lines(lines) {
			s, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", dir, name, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// parseTCP reads: number, local address, remote address, state, ... The tenth field is the inode.
func parseTCP(line string) (socket, error) {
	fields := strings.Fields(line)
	if len(fields) < 10 {
		return socket{}, fmt.Errorf("bad line %.80q", line)
	}
	local, err := parseHexAddress(fields[1])
	if err != nil {
		return socket{}, err
	}
	remote, err := parseHexAddress(fields[2])
	if err != nil {
		return socket{}, err
	}
	inode, err := strconv.ParseUint(fields[9], 10, 64)
	if err != nil {
		return socket{}, fmt.Errorf("bad inode in %.80q", line)
	}
	const established, listen = "01", "0A"
	return socket{local: local, remote: remote, inode: inode,
		listening: fields[3] == listen, connected: fields[3] == established}, nil
}

// parseHexAddress reads 0100007F:1F90, which is 127.0.0.1:8080: the address in words of the machine's byte order.
func parseHexAddress(s string) (netip.AddrPort, error) {
	address, port, _ := strings.Cut(s, ":")
	words, err := hex.DecodeString(address)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(words) != 4 && len(words) != 16 {
		return netip.AddrPort{}, fmt.Errorf("bad address %.80q", s)
	}
	for i := 0; i < len(words); i += 4 {
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	ip, _ := netip.AddrFromSlice(words)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
}

// parseUnix reads: address, references, protocol, flags, type, state, inode, path. The path may be missing, and may
// hold spaces.
func parseUnix(line string) (socket, error) {
	var fields [7]string
	rest := strings.TrimSuffix(line, "\n")
	for i := range fields {
		fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	inode, err := strconv.ParseUint(fields[6], 10, 64)
	if err != nil {
		return socket{}, fmt.Errorf("bad line %.80q", line)
	}
	const accepts, connected = "00010000", "03"
	return socket{path: rest, inode: inode, listening: fields[3] == accepts, connected: fields[5] == connected}, nil
}

// inodes are the sockets that a process holds. It fails where that may not be seen.
func (h *host) inodes(pid int) (map[uint64]bool, error) {
	dir := procDir(pid) + "/fd"
	entries, err := fs.ReadDir(h.root, dir)
	if err != nil {
		return nil, err
	}
	held := map[uint64]bool{}
	for _, entry := range entries {
		if inode, ok := h.socketLink(dir + "/" + entry.Name()); ok {
			held[inode] = true
		}
	}
	return held, nil
}

// socketLink returns the inode of a descriptor that is a socket.
func (h *host) socketLink(name string) (uint64, bool) {
	target, err := h.link(name)
	if err != nil {
		return 0, false // closed meanwhile
	}
	number, ok := strings.CutPrefix(target, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	return inode, err == nil
}
