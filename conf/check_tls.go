package conf

import (
	"maps"
	"slices"
	"strings"
)

func (c *checker) tls(n *node, tls *TLS) {
	if n == nil {
		return
	}
	c.pem(n, "cert", tls.Cert, tls.Issuer)
	c.pem(n, "key", tls.Key, tls.Issuer)
	if tls.Staging {
		if ca := n.good("ca"); ca != nil {
			c.fail(ca, "tls.ca", "is another authority than that of tls.staging; want one of the two")
		}
		tls.CA = letsEncryptStaging
	}
	c.binding(n, "tls", tls.EABID, tls.EABKey)
	for i, fallback := range tls.Fallback {
		c.binding(n.get("fallback").items[i], index("tls.fallback", i), fallback.EABID, fallback.EABKey)
	}
	if curves := n.good("curves"); curves != nil && len(tls.Curves) == 0 {
		c.fail(curves, "tls.curves", "empty; want at least one")
	}
	c.dns(n.good("dns"), tls.DNS)
	c.acmeOnly(n.get("dns"), "tls.dns.provider", "provider", tls.DNS.Provider, tls.Issuer)
	c.acmeOnly(n.get("on_demand"), "tls.on_demand.permission", "permission", tls.OnDemand.Permission, tls.Issuer)
	c.needs(n.good("on_demand"), "tls.on_demand", "permission", "want the URL that says for which names certificates may be got; without one strangers could have them made for any")
	c.needs(n.good("redis"), "tls.redis", "address", `want an address such as "127.0.0.1:6379"`)
}

// acmeOnly reports what would do nothing with another issuer.
func (c *checker) acmeOnly(table *node, path, key, value, issuer string) {
	if value != "" && issuer != "acme" && table.good(key) != nil {
		c.fail(table.get(key), path, `is used with issuer "acme" only; the issuer is %q`, issuer)
	}
}

// needs reports a table that is written without the key that it is nothing without.
func (c *checker) needs(table *node, path, key, want string) {
	if table != nil && !table.bad && len(table.keys) > 0 && !table.has(key) {
		c.missing(table, join(path, key), "missing; %s", want)
	}
}

// binding reports half of an external account.
func (c *checker) binding(n *node, path, id, key string) {
	switch {
	case n.bad || (id == "") == (key == ""):
	case id == "" && n.good("eab_key") != nil:
		c.missing(n.get("eab_key"), join(path, "eab_id"), "missing; it is given out together with eab_key")
	case key == "" && n.good("eab_id") != nil:
		c.missing(n.get("eab_id"), join(path, "eab_key"), "missing; it is given out together with eab_id")
	}
}

// dns checks that the provider is one and that the options are its own.
func (c *checker) dns(n *node, dns DNS) {
	if n == nil {
		return
	}
	known, all := DNSOptions()[dns.Provider], slices.Sorted(maps.Keys(DNSOptions()))
	switch {
	case dns.Provider == "" && len(dns.Options) > 0 && (!n.has("provider") || n.good("provider") != nil):
		c.missing(n, "tls.dns.provider", "missing; want %s", oneOf(all))
	case dns.Provider != "" && known == nil:
		c.fail(n.get("provider"), "tls.dns.provider", "unknown %q; want %s%s", dns.Provider, oneOf(all), meant(dns.Provider, all))
	case dns.Provider != "":
		for _, option := range dns.Options {
			if !slices.Contains(known, option.Name) {
				c.faults.add(n.src, n.keyAt(option.Name), join("tls.dns", option.Name), "unknown key%s; %s has %s",
					meant(option.Name, append([]string{"propagation", "resolvers"}, known...)), dns.Provider, strings.Join(known, ", "))
			}
		}
	}
}

// pem checks that a file is named if and only if the issuer reads it.
func (c *checker) pem(n *node, name, path, issuer string) {
	switch written := n.get(name); {
	case n.has("issuer") && n.good("issuer") == nil, written != nil && written.bad:
	case issuer == "files" && path == "":
		c.missing(n.get("issuer"), join("tls", name), `missing; issuer "files" wants a PEM file here`)
	case issuer != "files" && path != "":
		c.fail(written, join("tls", name), `is read with issuer "files" only; the issuer is %q`, issuer)
	}
}
