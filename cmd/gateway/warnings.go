package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"gateway/conf"
	"gateway/proxy"
)

// warn prints what will not stop the gateway from starting but will surprise.
func warn(words io.Writer, cfg *conf.Config) {
	for _, warning := range warnings(cfg) {
		fmt.Fprintf(words, "gateway: warning: %s\n", warning)
	}
}

func warnings(cfg *conf.Config) []string {
	var all []string
	add := func(about, warning string) {
		if warning != "" {
			all = append(all, about+": "+warning)
		}
	}
	for _, site := range cfg.Sites {
		add("root of "+site.Hosts[0], aboutRoot(site))
		add("maintenance of "+site.Hosts[0], aboutMaintenance(site))
	}
	for _, plan := range proxy.CertificatePlans(cfg) {
		add("certificate of "+plan.Host, plan.Warning)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Upstreams)) {
		u := cfg.Upstreams[name]
		for _, backend := range append(u.FastCGI, u.HTTP...) {
			if backend.Network == "unix" {
				add("upstream "+name, aboutSocket(backend.Address))
			}
		}
	}
	add("limits.spool_disk", aboutSpool(cfg))
	if output := cfg.Log.Output; filepath.IsAbs(output) {
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			add("log.output", err.Error())
		}
	}
	return all
}

// aboutRoot finds the folder of the application where its public folder is meant.
func aboutRoot(site conf.Site) string {
	if _, err := os.Stat(site.Root); err != nil {
		return err.Error()
	}
	if _, err := os.Stat(filepath.Join(site.Root, site.Index)); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	public := filepath.Join(site.Root, "public")
	if _, err := os.Stat(filepath.Join(public, site.Index)); err == nil {
		return fmt.Sprintf("no %s in %s, which is served for all to read; is the root %s?", site.Index, site.Root, public)
	}
	return fmt.Sprintf("no %s in %s; want Laravel's public folder", site.Index, site.Root)
}

// aboutSpool finds bodies that are allowed but cannot be held.
func aboutSpool(cfg *conf.Config) string {
	for _, site := range cfg.Sites {
		if site.Limits.Body > cfg.Limits.SpoolDisk/2 {
			return fmt.Sprintf("site %s takes bodies of up to %d bytes, but one gets half of this at most; larger ones find no room", site.Hosts[0], site.Limits.Body)
		}
	}
	return ""
}

func aboutSocket(path string) string {
	err := unix.Access(path, unix.W_OK)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " is not there; is its server running?"
	case err != nil:
		return fmt.Sprintf("%s: %v; run the gateway as a user that may write to it, or change listen.mode in PHP-FPM's pool", path, err)
	}
	return ""
}
