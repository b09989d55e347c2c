package certs

import (
	"net"
	"net/netip"
	"strings"
)

// localSuffixes belong to no public registry, so no public authority may vouch for names below them
// (RFC 2606, RFC 6762, RFC 8375 and ICANN's reservation of internal).
var localSuffixes = []string{".localhost", ".test", ".local", ".internal", ".home.arpa"}

// isLocal reports whether only the internal authority can vouch for host.
func isLocal(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	}
	if host == "*" {
		return false
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// normalize makes names comparable: lower case, no final dot, no brackets around an address.
func normalize(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(host)), ".")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return host
}

func normalizeAll(hosts []string) []string {
	names := make([]string, len(hosts))
	for i, host := range hosts {
		names[i] = normalize(host)
	}
	return names
}

// matches reports whether pattern, a name or "*." and a name, covers name. The star is one label.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	suffix, wildcard := strings.CutPrefix(pattern, "*")
	label, covered := strings.CutSuffix(name, suffix)
	return wildcard && covered && label != "" && !strings.Contains(label, ".")
}

// lookup returns the pattern that a name falls under, as a site is chosen: the name itself first, then the wildcard
// one label above, then "*". It is empty when there is none.
func lookup(patterns map[string]bool, name string) string {
	if patterns[name] {
		return name
	}
	if _, rest, found := strings.Cut(name, "."); found && patterns["*."+rest] {
		return "*." + rest
	}
	if patterns["*"] {
		return "*"
	}
	return ""
}

func hostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return ""
	}
	host, _, _ = strings.Cut(host, "%") // a zone means something on one link only
	return normalize(host)
}

// cutWildcard returns what follows the star of a pattern, with its dot, and whether there is one.
func cutWildcard(host string) (rest string, wildcard bool) { return strings.CutPrefix(host, "*") }
