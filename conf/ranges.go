package conf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// Range is one entry of a list of networks.
type Range struct {
	// Networks are what the entry stands for: one network, those of a preset or those of File. Never empty.
	Networks []netip.Prefix
	// File is the list that Networks were read from, absolute. Empty for an entry that is none.
	File string
}

// Networks returns the networks of all ranges.
func Networks(ranges []Range) []netip.Prefix {
	var all []netip.Prefix
	for _, r := range ranges {
		all = append(all, r.Networks...)
	}
	return all
}

// presets are the names for networks of which no address is on the internet.
var presets = map[string]string{
	"loopback": "127.0.0.0/8 ::1/128",
	"private":  "127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 fc00::/7 fe80::/10",
}

// parseRange reads a network, an address, the name of a preset or "file:PATH". The file is read when all is checked.
func parseRange(src *source, s string) (any, error) {
	if path, isFile := strings.CutPrefix(s, "file:"); isFile {
		if path == "" {
			return nil, errors.New("no path")
		}
		path, err := parsePath(src, path)
		return Range{File: path}, err
	}
	text := s
	if networks, known := presets[s]; known {
		text = networks
	}
	var r Range
	for word := range strings.FieldsSeq(text) {
		network, err := parseNetwork(word)
		if err != nil {
			return nil, err
		}
		r.Networks = append(r.Networks, network)
	}
	if len(r.Networks) == 0 {
		return nil, errors.New("nothing there")
	}
	return r, nil
}

// parseNetwork reads "10.0.0.0/8" or an address, which is a network of one. Bits behind the network's are refused:
// who writes 10.1.2.3/8 may mean either.
func parseNetwork(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return network, errors.New("no network")
	case network != network.Masked():
		return network, fmt.Errorf("the network is %s", network.Masked())
	}
	return network, nil
}

// list reads a file with a list, which is then watched as well.
func (l *loader) list(path string) ([]byte, error) {
	data, err := readRegular(path)
	if !slices.Contains(l.files, path) {
		l.files = append(l.files, path)
		l.contents[path] = data
	}
	return data, err
}

// ranges reads the files among the entries of a list.
func (c *checker) ranges(n *node, path string, all []Range) {
	if n == nil || n.bad {
		return
	}
	for i := range all {
		if all[i].File == "" || n.items[i].bad {
			continue
		}
		data, err := c.read(all[i].File)
		if err != nil {
			c.fail(n.items[i], index(path, i), "%s cannot be read: %s", filepath.Base(all[i].File), reasonOf(err))
			continue
		}
		networks, err := parseList(data)
		if err != nil {
			c.fail(n.items[i], index(path, i), "%s: %s", filepath.Base(all[i].File), err)
		}
		all[i].Networks = networks
	}
}

// parseList reads a network or an address from each line. What follows a # is a comment. A list with nothing in it is
// taken for one that was cut off.
func parseList(data []byte) (all []netip.Prefix, err error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w; want a network such as 10.0.0.0/8 or an address", number, err)
		}
		all = append(all, network)
	}
	if len(all) == 0 && lines.Err() == nil {
		return nil, errors.New("holds no network")
	}
	return all, lines.Err()
}

// proxies checks who is trusted, and with what.
func (c *checker) proxies(root *node, cfg *Config) {
	c.ranges(root.get("trusted_proxies"), "trusted_proxies", cfg.TrustedProxies)
	trusted := len(cfg.TrustedProxies) > 0 || root.has("trusted_proxies")
	if n := root.good("h2c"); n != nil && cfg.H2C && !trusted {
		c.missing(n, "trusted_proxies", "missing; h2c wants the addresses of the proxies, such as [\"10.0.0.0/8\"]")
	}
	n := root.good("proxy_protocol")
	if n == nil {
		return
	}
	for i, at := range cfg.ProxyProtocol {
		if !n.items[i].bad && root.good("listen") == root.get("listen") && !slices.Contains(cfg.Listen, at) {
			c.fail(n.items[i], index("proxy_protocol", i), "%q is not listened on; want one of listen", at)
		}
	}
	if len(cfg.ProxyProtocol) > 0 && !trusted {
		c.missing(n, "trusted_proxies", "missing; proxy_protocol wants the addresses of the proxies, such as [\"10.0.0.0/8\"]")
	}
}
