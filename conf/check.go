package conf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checker looks at what no value shows alone: the references and conflicts among all files.
type checker struct {
	faults    *faults
	main      *file
	whole     bool             // the file at hand was read to its end
	partial   bool             // some file was not, so an upstream that is named may well be there
	hosts     map[string]*node // where each host is named first
	upstreams map[string]*node
	read      func(path string) ([]byte, error) // reads a file that belongs to the configuration
}

// check reports the conflicts and fills in the defaults that depend on other values. What may stand in the
// rest of a file that could not be read is not reported as missing.
func (l *loader) check(files []*file) {
	c := &checker{faults: &l.faults, main: files[0], partial: l.partial, read: l.list}
	c.hosts, c.upstreams = map[string]*node{}, map[string]*node{}
	for _, f := range files {
		c.defined(f)
	}
	for _, f := range files {
		c.whole = f.whole
		for name, up := range f.cfg.Upstreams {
			f.cfg.Upstreams[name] = c.upstream(f.root.get("upstream").get(name), join("upstream", name), up)
		}
		for i := range f.cfg.Sites {
			c.site(f.root.get("site").items[i], index("site", i), &f.cfg.Sites[i])
		}
	}
	c.whole = c.main.whole
	if !c.partial && !slices.ContainsFunc(files, hasSites) {
		c.fail(c.main.root, "site", "missing; want at least one [[site]] with hosts, root and app")
	}
	c.top()
}

// hasSites tells whether a file has sites, be they right or wrong.
func hasSites(f *file) bool {
	n := f.root.get("site")
	return n != nil && (n.bad || len(n.items) > 0)
}

func (c *checker) fail(n *node, path, format string, args ...any) {
	c.faults.add(n.src, n.at, path, format, args...)
}

// missing reports what the rest of a broken file might still hold.
func (c *checker) missing(n *node, path, format string, args ...any) {
	if c.whole {
		c.fail(n, path, format, args...)
	}
}

// placeOf names where a value is written.
func placeOf(n *node) string {
	line, _ := n.src.place(n.at)
	return fmt.Sprintf("%s:%d", n.src.name, line)
}

// defined gathers the upstreams of a file.
func (c *checker) defined(f *file) {
	table := f.root.get("upstream")
	if table == nil {
		return
	}
	for _, k := range table.keys {
		if first := c.upstreams[k.name]; first != nil {
			c.faults.add(f.src, k.at, join("upstream", k.name), "defined twice; the first is in %s", placeOf(first))
			continue
		}
		c.upstreams[k.name] = table.get(k.name)
	}
}

// known reports a name of no upstream, with the place it is written at.
func (c *checker) known(src *source, at int, path, name string) {
	if c.upstreams[name] != nil || c.partial {
		return
	}
	all := slices.Sorted(maps.Keys(c.upstreams))
	if len(all) == 0 {
		c.faults.add(src, at, path, "no upstream %q; there is none yet: want [upstream.%s]", name, name)
		return
	}
	c.faults.add(src, at, path, "no upstream %q; want %s%s", name, oneOf(all), meant(name, all))
}

func (c *checker) top() {
	root, cfg := c.main.root, c.main.cfg
	c.listen(root.good("listen"), cfg)
	c.http3(root, cfg)
	c.proxies(root, cfg)
	c.admin(root, cfg.Admin)
	c.tls(root.get("tls"), &cfg.TLS)
}

func (c *checker) admin(root *node, admin Admin) {
	tokenGood := root.good("admin_token") == root.get("admin_token")
	if n := root.good("admin"); n != nil && admin.Network == "tcp" && admin.Token == "" && tokenGood {
		c.missing(n, "admin_token", `missing; an admin address of HTTP wants a token, such as admin_token = "${GATEWAY_ADMIN_TOKEN}"`)
	}
}

func (c *checker) listen(n *node, cfg *Config) {
	if n == nil {
		return
	}
	if len(cfg.Listen) == 0 {
		c.fail(n, "listen", "empty; want at least one address, such as \"https://:443\"")
	}
	for i, l := range cfg.Listen {
		if n.items[i].bad {
			continue
		}
		same := func(o Listen) bool { return o.Addr == l.Addr && !strings.HasSuffix(o.Addr, ":0") }
		if j := slices.IndexFunc(cfg.Listen, same); j >= 0 && j < i {
			c.fail(n.items[i], index("listen", i), "%q has the address of %s already", l, index("listen", j))
		}
	}
}

func (c *checker) http3(root *node, cfg *Config) {
	isTLS := func(l Listen) bool { return l.Scheme == "https" }
	if n := root.good("http3"); n != nil && cfg.HTTP3 && root.good("listen") == root.get("listen") && !slices.ContainsFunc(cfg.Listen, isTLS) {
		c.fail(n, "http3", "no address for it; want an https address in listen")
	}
}
