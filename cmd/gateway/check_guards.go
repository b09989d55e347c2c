package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gateway/conf"
)

// describeTrust says whom the gateway believes. Nothing is said where nobody is.
func describeTrust(out io.Writer, cfg *conf.Config) {
	if len(cfg.TrustedProxies) == 0 {
		return
	}
	what := cfg.ForwardedHeader
	if cfg.ForwardedHost {
		what += " and the host"
	}
	fmt.Fprintf(out, "trusted   %s for %s\n", networks(cfg.TrustedProxies), what)
	for _, at := range cfg.ProxyProtocol {
		fmt.Fprintf(out, "trusted   PROXY protocol on %s\n", at)
	}
}

// describeGuards says what a request has to pass before the application of a site is asked.
func describeGuards(out io.Writer, site conf.Site) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(out, "  %-7s %s\n", what, fmt.Sprintf(format, args...))
	}
	if len(site.Access.Allow) > 0 {
		line("allow", "%s only", networks(site.Access.Allow))
	}
	if len(site.Access.Deny) > 0 {
		line("deny", "%s", networks(site.Access.Deny))
	}
	if n := len(site.Auth.Users); n > 0 {
		line("auth", "%s", plural(n, "user"))
	}
	if site.ForwardAuth.URL != "" {
		line("auth", "asks %s", site.ForwardAuth.URL)
	}
	for _, rate := range site.Rates {
		line("rate", "%s", describeRate(rate))
	}
	if site.Maintenance.Enabled {
		line("down", "for maintenance")
	}
}

func describeRate(rate conf.Rate) string {
	unit := map[time.Duration]string{time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour"}[rate.Rate.Per]
	whose := map[string]string{"client": "of a client", "site": "in all", "header": "with the same " + rate.Key.Name}[rate.Key.From]
	return fmt.Sprintf("%s %s %s, %d at once", plural(rate.Rate.Count, "request"), unit, whose, rate.Burst)
}

func networks(ranges []conf.Range) string { return plural(len(conf.Networks(ranges)), "network") }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// aboutMaintenance finds out whether the file of "artisan down" can be seen when it is there.
func aboutMaintenance(site conf.Site) string {
	if !site.Maintenance.Artisan {
		return ""
	}
	path := site.Maintenance.ArtisanFile
	if !filepath.IsAbs(path) {
		root, err := filepath.EvalSymlinks(site.Root)
		if err != nil {
			return "" // which is said of the root
		}
		path = filepath.Join(root, path)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf(`%s cannot be looked for: %s; after "artisan down" PHP is woken for every answer`,
			path, strings.TrimPrefix(err.Error(), "stat "+path+": "))
	}
	return ""
}
