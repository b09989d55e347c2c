package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gateway/conf"
	"gateway/proxy"
)

// check loads and builds everything and prints what each site will do.
func check(_ context.Context, opt options, out, words io.Writer) error {
	cfg, err := load(opt)
	if err != nil {
		return err
	}
	if err := proxy.Check(cfg); err != nil {
		return err
	}
	describe(out, cfg)
	warn(words, cfg)
	fmt.Fprintf(words, "gateway: %s is good\n", opt.config)
	return nil
}

func describe(out io.Writer, cfg *conf.Config) {
	for _, at := range cfg.Listen {
		fmt.Fprintf(out, "listen    %s\n", at)
	}
	fmt.Fprintf(out, "admin     %s\n", cfg.Admin.Endpoint)
	describeTrust(out, cfg)
	https := make(map[string]string)
	for _, plan := range proxy.CertificatePlans(cfg) {
		https[plan.Host] = plan.How
	}
	for _, site := range cfg.Sites {
		fmt.Fprintf(out, "\nsite      %s\n", strings.Join(site.Hosts, ", "))
		fmt.Fprintf(out, "  files   %s\n", site.Root)
		describeGuards(out, site)
		fmt.Fprintf(out, "  app     %s\n", appOf(site, cfg.Upstreams[site.App]))
		describeHTTPS(out, site, https)
		rest := 10000
		for _, w := range site.Split.Weights {
			rest -= w.Share
			fmt.Fprintf(out, "  split   %s of users to %s\n", percent(w.Share), w.Upstream)
		}
		if len(site.Split.Weights) > 0 {
			fmt.Fprintf(out, "  split   %s of users to %s\n", percent(rest), site.App)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Upstreams)) {
		describeUpstream(out, cfg.Upstreams[name])
	}
}

// describeHTTPS says how the hosts of a site come to their certificates: in one line when all do alike.
func describeHTTPS(out io.Writer, site conf.Site, how map[string]string) {
	var ways []string
	for _, host := range site.Hosts {
		ways = append(ways, how[host])
	}
	slices.Sort(ways)
	switch ways = slices.Compact(ways); {
	case len(ways) == 1 && ways[0] != "":
		fmt.Fprintf(out, "  https   %s\n", ways[0])
	case len(ways) > 1:
		for _, host := range site.Hosts {
			fmt.Fprintf(out, "  https   %s: %s\n", host, how[host])
		}
	}
	if auth := site.ClientCertificates; auth.CA != "" {
		fmt.Fprintf(out, "  clients %s certificates of %s\n", auth.Mode, auth.CA)
	}
}

// appOf names the upstream and, where that is told, the script it runs.
func appOf(site conf.Site, app conf.Upstream) string {
	if len(app.FastCGI) > 0 {
		return fmt.Sprintf("/%s on %s", site.Index, site.App)
	}
	return site.App
}

func describeUpstream(out io.Writer, u conf.Upstream) {
	kind := "HTTP"
	if len(u.FastCGI) > 0 {
		kind = "FastCGI"
	}
	fmt.Fprintf(out, "\nupstream  %s: %s, %s\n", u.Name, kind, u.Policy)
	for _, backend := range append(u.FastCGI, u.HTTP...) {
		most := "no cap"
		if u.MaxInFlight > 0 {
			most = fmt.Sprintf("%d at once", u.MaxInFlight)
		}
		fmt.Fprintf(out, "  backend %s, %s\n", backend, most)
	}
	if u.Queue == 0 {
		fmt.Fprintln(out, "  queue   none")
		return
	}
	fmt.Fprintf(out, "  queue   %d for at most %v\n", u.Queue, u.QueueWait)
}

func percent(share int) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(share)/100), "0"), ".") + " %"
}
