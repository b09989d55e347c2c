package conf

// upstream checks one upstream and returns it with the length of its queue.
func (c *checker) upstream(n *node, path string, up Upstream) Upstream {
	fastcgi, http := n.get("fastcgi"), n.get("http")
	switch {
	case fastcgi != nil && http != nil:
		c.fail(http, path+".http", "stands beside fastcgi; want one of them: an upstream speaks one protocol")
	case fastcgi == nil && http == nil:
		c.missing(n, path, "no backends; want fastcgi = [\"unix:/run/php/php8.2-fpm.sock\"] or http = [\"127.0.0.1:8000\"]")
	case fastcgi != nil:
		c.backends(fastcgi, path+".fastcgi", up.FastCGI)
		if idle := n.get("tunnel_idle"); idle != nil {
			c.fail(idle, path+".tunnel_idle", "is for http only; FastCGI has no tunnels")
		}
	default:
		c.backends(http, path+".http", up.HTTP)
	}
	if !n.has("queue") {
		up.Queue = 10 * up.MaxInFlight * (len(up.FastCGI) + len(up.HTTP))
	}
	return up
}

func (c *checker) backends(n *node, path string, all []Endpoint) {
	if n.bad {
		return
	}
	if len(all) == 0 {
		c.fail(n, path, "empty; want at least one address")
	}
	seen := map[Endpoint]int{}
	for i, e := range all {
		if first, twice := seen[e]; twice && !n.items[i].bad {
			c.fail(n.items[i], index(path, i), "%q is %s already; want each backend once", e, index(path, first))
			continue
		}
		seen[e] = i
	}
}
