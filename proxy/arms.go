package proxy

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gateway/conf"
	"gateway/proxy/bench"
	"gateway/proxy/static"
)

// ArmsConfig says which arms of a bench to open.
type ArmsConfig struct {
	// Site is a host of the site that is asked. Empty means the first one of the configuration.
	Site string
	// Names are upstreams of the configuration, and URLs such as https://shop.example, which may be given a name:
	// old=https://shop.example. Empty means the site's app and the variants of its split.
	Names []string
	// Via is "tls" to ask the gateway that runs with this configuration, on its https address. Empty asks the backends.
	Via string
}

// Arms are the sides of a bench and what they hold open, none of which is shared with live traffic.
type Arms struct {
	All []bench.Arm
	// Host is asked for where a workload names none.
	Host string

	site    string        // its name; empty without a configuration
	hosts   *hosts        // of all sites
	files   *static.Files // of the site; nil where the arms answer for files themselves
	release string
	closers []func()
}

var errArm = errors.New("no arm of a bench")

// OpenArms opens arms that are driven as production is: by the site's own way to put a request, over transports of the
// same kind, but with no retries, and with the site's guards, files and rates left out. cfg may be nil where all names are
// URLs. After an error nothing is left open.
func OpenArms(cfg *conf.Config, want ArmsConfig) (*Arms, error) {
	a := new(Arms)
	if err := a.open(cfg, want); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close closes what the arms hold open. No request may be under way.
func (a *Arms) Close() {
	for _, closeOne := range slices.Backward(a.closers) {
		closeOne()
	}
}

func (a *Arms) open(cfg *conf.Config, want ArmsConfig) error {
	site, err := siteOf(cfg, want.Site)
	if err != nil {
		return err
	}
	names := want.Names
	if len(names) == 0 && site != nil {
		names = usualArms(site)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: want the name of an upstream or a URL", errArm)
	}
	if site != nil {
		a.Host, a.site, a.hosts = askedHost(site), site.Hosts[0], hostsOf(cfg)
	}
	for _, text := range names {
		name, link, isLink := splitArm(text)
		switch {
		case isLink:
			err = a.openURL(name, link)
		case cfg == nil:
			err = fmt.Errorf("%w: %s is not a URL, and there is no configuration that would know it", errArm, text)
		case want.Via == "tls":
			err = a.openFront(cfg, site, name)
		default:
			err = a.openUpstream(cfg, site, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// siteOf finds the site that is asked, nil without a configuration.
func siteOf(cfg *conf.Config, host string) (*conf.Site, error) {
	if cfg == nil {
		return nil, nil
	}
	if host == "" {
		return &cfg.Sites[0], nil
	}
	var all []string
	for i := range cfg.Sites {
		if slices.Contains(cfg.Sites[i].Hosts, strings.ToLower(host)) {
			return &cfg.Sites[i], nil
		}
		all = append(all, cfg.Sites[i].Hosts...)
	}
	return nil, fmt.Errorf("%w: no site %q; want %s", errArm, host, strings.Join(all, ", "))
}

// hostsOf tells the sites of a configuration apart, which have no handlers here.
func hostsOf(cfg *conf.Config) *hosts {
	all := &hosts{exact: make(map[string]*site), wildcard: make(map[string]*site)}
	for _, s := range cfg.Sites {
		for _, host := range s.Hosts {
			all.add(host, &site{name: s.Hosts[0]})
		}
	}
	return all
}

// HasHost says whether requests for a host are the site's. Without a configuration there is one site only.
func (a *Arms) HasHost(host string) bool {
	if a.hosts == nil {
		return true
	}
	s := a.hosts.find(host)
	return s != nil && s.name == a.site
}

func usualArms(site *conf.Site) []string {
	names := []string{site.App}
	for _, w := range site.Split.Weights {
		if !slices.Contains(names, w.Upstream) {
			names = append(names, w.Upstream)
		}
	}
	return names
}

// askedHost is a name that the site has for itself.
func askedHost(site *conf.Site) string {
	for _, host := range site.Hosts {
		switch rest, wild := strings.CutPrefix(host, "*."); {
		case wild:
			return "www." + rest
		case host != "*":
			if strings.Contains(host, ":") {
				return "[" + host + "]"
			}
			return host
		}
	}
	return "localhost"
}

// splitArm splits NAME=URL, or finds a name for a URL.
func splitArm(text string) (name, link string, isLink bool) {
	before, after, found := strings.Cut(text, "=")
	if found && strings.Contains(after, "://") && !strings.Contains(before, "://") {
		return before, after, true
	}
	if !strings.Contains(text, "://") {
		return text, "", false
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Host, text, true
	}
	return text, text, true
}

func noUpstream(cfg *conf.Config, name string) error {
	all := slices.Sorted(maps.Keys(cfg.Upstreams))
	return fmt.Errorf("%w: no upstream %q; want %s, or a URL", errArm, name, strings.Join(all, ", "))
}

// ReachesApp says whether a request gets as far as the application. The site's files are answered before it, and what may
// not be asked for is refused there, so that an arm which asks the application itself would measure another answer.
func (a *Arms) ReachesApp(method, target string) bool {
	if a.files == nil {
		return true
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return false
	}
	r := &http.Request{Method: method, URL: u, RequestURI: target, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	outcome, err := a.files.Serve(nowhere{}, r, a.release)
	return outcome == static.NotMine && err == nil
}

// nowhere is where an answer goes that nobody wants.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) WriteHeader(int)             {}
func (nowhere) Write(p []byte) (int, error) { return io.Discard.Write(p) }
