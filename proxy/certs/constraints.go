package certs

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// localRanges are the addresses that isLocal accepts.
var localRanges = []string{
	"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "0.0.0.0/32",
	"::1/128", "fc00::/7", "fe80::/10", "::/128",
}

// nowhere is a domain that never is (RFC 2606). It stands where a list of domains must not be empty, since an empty
// one permits all.
const nowhere = "invalid"

// constraints are the names that a root may vouch for (RFC 5280, 4.2.1.10). Whoever has its key can make no certificate
// that a client takes for another.
type constraints struct {
	domains []string
	ranges  []string
}

// localConstraints permit what isLocal accepts, but for names without a dot, which no constraint describes.
func localConstraints() constraints {
	c := constraints{domains: []string{"localhost"}, ranges: localRanges}
	for _, suffix := range localSuffixes[1:] {
		c.domains = append(c.domains, strings.TrimPrefix(suffix, "."))
	}
	return c
}

// constraintsFor permit these hosts and nothing else.
func constraintsFor(hosts []string) constraints {
	c := constraints{domains: []string{nowhere}}
	for _, host := range hosts {
		if addr, err := netip.ParseAddr(host); err == nil {
			c.ranges = append(c.ranges, netip.PrefixFrom(addr, addr.BitLen()).String())
		} else {
			c.domains = append(c.domains, strings.TrimPrefix(host, "*."))
		}
	}
	return c
}

// permits tells whether the constraints of a local root cover host.
func (c constraints) permits(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc(c.ranges, func(r string) bool { return netip.MustParsePrefix(r).Contains(addr) })
	}
	name := strings.TrimPrefix(host, "*.")
	return slices.ContainsFunc(c.domains, func(d string) bool { return name == d || strings.HasSuffix(name, "."+d) })
}

// apply writes them into a certificate that is to be made.
func (c constraints) apply(template *x509.Certificate) error {
	template.PermittedDNSDomainsCritical = true
	template.PermittedDNSDomains = c.domains
	for _, r := range c.ranges {
		_, network, err := net.ParseCIDR(r)
		if err != nil {
			return fmt.Errorf("constraints: %w", err)
		}
		template.PermittedIPRanges = append(template.PermittedIPRanges, network)
	}
	if len(c.ranges) == 0 {
		template.ExcludedIPRanges = []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		}
	}
	return nil
}

// heldBy tells whether a root has constraints, and permits at least all of these.
func (c constraints) heldBy(root *x509.Certificate) bool {
	ranges := make([]string, len(root.PermittedIPRanges))
	for i, r := range root.PermittedIPRanges {
		ranges[i] = r.String()
	}
	missing := func(in []string) func(string) bool {
		return func(one string) bool { return !slices.Contains(in, one) }
	}
	return root.PermittedDNSDomainsCritical && !slices.ContainsFunc(c.domains, missing(root.PermittedDNSDomains)) &&
		!slices.ContainsFunc(c.ranges, missing(ranges))
}
