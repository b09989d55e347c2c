package certs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/certmagic"
)

// kind is one of the ways in which a host comes to its certificate.
type kind int

const (
	byNothing  kind = iota // it gets none
	byInternal             // the internal authority
	byFiles                // the certificate file
	byPorts                // ACME, proved at our own ports
	byDNS                  // ACME, proved by a DNS record
	onDemand               // ACME, at the first handshake
)

// way is a host and how it comes to its certificate.
type way struct {
	host string
	kind kind
}

func (w way) isACME() bool { return w.kind >= byPorts }

func hostsOf(ways []way, kinds ...kind) []string {
	var hosts []string
	for _, w := range ways {
		for _, k := range kinds {
			if w.kind == k {
				hosts = append(hosts, w.host)
			}
		}
	}
	return hosts
}

// divide finds the way for each host. f is nil unless the issuer is files.
func divide(cfg Config, f *files) ([]way, error) {
	if !slices.Contains([]string{"", "acme", "internal", "files"}, cfg.Issuer) {
		return nil, fmt.Errorf("tls.issuer: unknown %q; want acme, internal or files", cfg.Issuer)
	}
	ways := make([]way, 0, len(cfg.Hosts))
	for _, host := range cfg.Hosts {
		w := way{host: host}
		switch cfg.Issuer {
		case "internal":
			w.kind = internalWay(host)
		case "files":
			w.kind = byFiles
			if isLocal(host) && !f.cover(host) {
				w.kind = byInternal
			}
		default:
			var err error
			if w.kind, err = acmeWay(cfg, host); err != nil {
				return nil, err
			}
		}
		ways = append(ways, w)
	}
	return ways, nil
}

func internalWay(host string) kind {
	if host == "*" {
		return byNothing
	}
	return byInternal
}

// acmeWay refuses what the authority would refuse later, when only the log could say so.
func acmeWay(cfg Config, host string) (kind, error) {
	switch {
	case host == "*" && cfg.OnDemand.Permission == "":
		return byNothing, nil
	case isLocal(host):
		return byInternal, nil
	case strings.HasPrefix(host, "*.") && cfg.DNS.Provider != "":
		return byDNS, nil
	case strings.HasPrefix(host, "*") && cfg.OnDemand.Permission == "":
		return byNothing, fmt.Errorf("hosts: no authority proves %s without a DNS challenge; set tls.dns.provider, or tls.on_demand.permission, or name each host", host)
	case !certmagic.SubjectQualifiesForCert(host):
		return byNothing, fmt.Errorf("hosts: no authority gives a certificate to %q", host)
	case cfg.DNS.Provider != "" && !strings.HasPrefix(host, "*"):
		return byDNS, nil
	case cfg.HTTPPort == 0 && cfg.TLSPort == 0:
		return byNothing, errors.New("listen: the issuer acme needs an http or https listener that the authority can reach, or tls.dns")
	case strings.HasPrefix(host, "*"):
		return onDemand, nil
	}
	return byPorts, nil
}
