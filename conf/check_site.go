package conf

import "strings"

// site checks one site and fills in what it takes from others.
func (c *checker) site(n *node, path string, s *Site) {
	if n.bad {
		return
	}
	c.siteHosts(n.good("hosts"), path+".hosts", s)
	if n.good("root") != nil && s.Root == "" {
		c.fail(n.get("root"), path+".root", "empty; want the public folder")
	}
	if app := n.good("app"); app != nil {
		c.known(app.src, app.at, path+".app", s.App)
	}
	if split := n.good("split"); split != nil {
		c.split(split, path+".split", s)
	}
	c.guards(n, path, s)
	c.needs(n.get("client_certificates"), path+".client_certificates", "ca", "want a PEM file with the authorities to trust")
	s.Headers = withDefaultHeaders(s.Headers)
	limits := n.get("limits")
	if !limits.has("body") {
		s.Limits.Body = c.main.cfg.Limits.Body
	}
	if !limits.has("body_timeout") {
		s.Limits.BodyTimeout = c.main.cfg.Limits.BodyTimeout
	}
}

// siteHosts looks for hosts named before, here or in another site, and finds the site's own name.
func (c *checker) siteHosts(n *node, path string, s *Site) {
	if n == nil {
		return
	}
	if len(s.Hosts) == 0 {
		c.fail(n, path, "empty; want at least one host, such as \"shop.example\"")
	}
	for i, host := range s.Hosts {
		item := n.items[i]
		switch first := c.hosts[host]; {
		case item.bad:
		case first != nil:
			c.fail(item, index(path, i), "%q is a host of a site already, in %s; want each host once", host, placeOf(first))
		default:
			c.hosts[host] = item
		}
		if s.ServerName == "" && !strings.HasPrefix(host, "*") {
			s.ServerName = host
		}
	}
}

func (c *checker) split(n *node, path string, s *Site) {
	sum := 0
	for _, w := range s.Split.Weights {
		at, full := n.keyAt(w.Upstream), join(path, w.Upstream)
		c.known(n.src, at, full, w.Upstream)
		if w.Upstream == s.App {
			c.faults.add(n.src, at, full, "is the app of the site, which gets what the others leave; want other upstreams only")
		}
		sum += w.Share
	}
	if len(s.Split.Weights) > 2 {
		c.fail(n, path, "has %d upstreams; want two at most besides the app, so that a growing one never takes users from another", len(s.Split.Weights))
	}
	if sum > 10000 {
		c.fail(n, path, "the percentages add up to %g; want 100 at most", float64(sum)/100)
	}
	if s.Split.Cookie == s.Split.OverrideCookie {
		c.fail(n, join(path, "override_cookie"), "is the name of the split's own cookie, %q; want another", s.Split.Cookie)
	}
}
