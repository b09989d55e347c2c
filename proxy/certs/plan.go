package certs

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// endsSoon is how long before the end of a certificate file its owner hears of it.
const endsSoon = 14 * 24 * time.Hour

// Plan says how a host will come to its certificate.
type Plan struct {
	Host string
	// How is for people, such as "acme-v02.api.letsencrypt.org, by HTTP-01 or TLS-ALPN-01".
	How string
	// Warning says what will not work, or not for long; empty when nothing is known.
	Warning string
}

// Plans returns the plan for each host. Its error is New's for the same configuration. Nothing is written or asked.
func Plans(cfg Config) ([]Plan, error) {
	cfg = cfg.withDefaults()
	var f *files
	var err error
	if cfg.Issuer == "files" {
		if f, err = openFiles(cfg); err != nil {
			return nil, err
		}
	}
	ways, err := divide(cfg, f)
	if err != nil {
		return nil, err
	}
	plans := make([]Plan, len(ways))
	for i, w := range ways {
		plans[i] = cfg.plan(w, f)
	}
	return plans, nil
}

func (cfg Config) plan(w way, f *files) Plan {
	p := Plan{Host: w.host}
	switch w.kind {
	case byInternal:
		p.How = "the internal authority, which \"gateway trust\" makes this machine trust"
	case byFiles:
		p.How = fmt.Sprintf("%s, until %s", cfg.CertFile, f.certificate().Leaf.NotAfter.Format(time.DateOnly))
		p.Warning = cfg.aboutFile(w.host, f)
	case byDNS:
		p.How = fmt.Sprintf("%s, by DNS-01 at %s", cfg.authorities(), cfg.DNS.Provider)
	case byPorts:
		p.How = fmt.Sprintf("%s, by %s", cfg.authorities(), cfg.challenges())
		p.Warning = cfg.aboutPorts(w.host)
	case onDemand:
		p.How = fmt.Sprintf("%s, by %s, on demand, if %s allows", cfg.authorities(), cfg.challenges(), cfg.OnDemand.Permission)
		p.Warning = cfg.aboutPorts(w.host)
	default:
		p.How = "none"
		p.Warning = `"*" gets no certificate, so its names are served over http only; name each host, or set tls.on_demand.permission, or tls.issuer to "files"`
	}
	return p
}

// authorities names the authorities by the hosts of their directories.
func (cfg Config) authorities() string {
	names := make([]string, len(cfg.Authorities))
	for i, a := range cfg.Authorities {
		names[i] = a.Directory
		if u, err := url.Parse(a.Directory); err == nil && u.Host != "" {
			names[i] = u.Host
		}
	}
	return strings.Join(names, ", else ")
}

func (cfg Config) challenges() string {
	switch {
	case cfg.HTTPPort == 0:
		return "TLS-ALPN-01"
	case cfg.TLSPort == 0:
		return "HTTP-01"
	}
	return "HTTP-01 or TLS-ALPN-01"
}

// aboutPorts finds what keeps an authority from proving a host at our ports.
func (cfg Config) aboutPorts(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host + " is an address, and hardly any authority vouches for one; give the site a name"
	}
	switch {
	case cfg.HTTPPort == 80 || cfg.TLSPort == 443 && cfg.HTTPPort != 0:
		return ""
	case cfg.HTTPPort == 0 && cfg.TLSPort == 443:
		return "no http listener, so only TLS-ALPN-01 on port 443 can prove " + host + ", and http:// leads nowhere"
	}
	return "an authority asks at ports 80 and 443 only, which are not listened on here: lead them to this gateway's, or set tls.dns"
}

// aboutFile finds what clients will not accept.
func (cfg Config) aboutFile(host string, f *files) string {
	leaf, now := f.certificate().Leaf, cfg.now()
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Sprintf("the certificate in %s ended on %s", cfg.CertFile, leaf.NotAfter.Format(time.DateOnly))
	case host != "*" && leaf.VerifyHostname(exampleOf(host)) != nil:
		return fmt.Sprintf("the certificate in %s is not for %s but for %s", cfg.CertFile, host, strings.Join(leaf.DNSNames, ", "))
	case leaf.NotAfter.Sub(now) < endsSoon:
		return fmt.Sprintf("the certificate in %s ends on %s already", cfg.CertFile, leaf.NotAfter.Format(time.DateOnly))
	}
	return ""
}
