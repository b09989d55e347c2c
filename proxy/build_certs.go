package proxy

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"gateway/conf"
	"gateway/proxy/certs"
)

func (b *builder) openCerts() error {
	if endpoint(b.cfg, "https") == nil {
		return nil
	}
	cfg := certificateConfig(b.cfg)
	b.state.roots = stamp(cfg)
	if b.keepsLog() && b.old.certs != nil && b.old.roots == b.state.roots &&
		reflect.DeepEqual(certificateConfig(b.old.cfg), cfg) && b.old.certs.retain() {
		b.state.certs = b.old.certs
		return nil
	}
	storage, free, err := b.certificateStorage()
	if err != nil {
		return err
	}
	cfg.Storage, cfg.Logger = storage, b.log
	manager, err := certs.New(cfg)
	if err != nil {
		free()
		return fmt.Errorf("tls: %w", err)
	}
	b.state.certs = share(manager, func(m *certs.Manager) {
		m.Close()
		free()
	})
	return nil
}

// certificateConfig is what certificates depend on. What is the same in two configurations is shared between them.
func certificateConfig(cfg *conf.Config) certs.Config {
	tls := cfg.TLS
	all := certs.Config{
		Issuer: tls.Issuer, Hosts: certificateHosts(cfg), Email: tls.Email, KeyType: tls.KeyType, Curves: tls.Curves,
		Authorities: []certs.Authority{{Directory: tls.CA, RootFile: tls.CARoot, KeyID: tls.EABID, MACKey: tls.EABKey}},
		HTTPPort:    port(cfg, "http"), TLSPort: port(cfg, "https"),
		DNS:      certs.DNS{Provider: tls.DNS.Provider, Resolvers: tls.DNS.Resolvers, Propagation: tls.DNS.Propagation},
		OnDemand: certs.OnDemand(tls.OnDemand),
		Storage:  cfg.Storage, CertFile: tls.Cert, KeyFile: tls.Key,
		Redis: certs.Redis{
			Network: tls.Redis.Address.Network, Address: tls.Redis.Address.Address, Username: tls.Redis.Username,
			Password: tls.Redis.Password, Database: tls.Redis.Database, Prefix: tls.Redis.Prefix, TLS: tls.Redis.TLS,
			RootFile: tls.Redis.CARoot,
		},
		Clients: make(map[string]certs.ClientAuth),
	}
	for _, a := range tls.Fallback {
		all.Authorities = append(all.Authorities, certs.Authority{Directory: a.CA, RootFile: a.CARoot, KeyID: a.EABID, MACKey: a.EABKey})
	}
	for _, option := range tls.DNS.Options {
		if all.DNS.Options == nil {
			all.DNS.Options = make(map[string]string)
		}
		all.DNS.Options[option.Name] = option.Value
	}
	for _, site := range cfg.Sites {
		for _, host := range site.Hosts {
			if auth := site.ClientCertificates; auth.CA != "" {
				all.Clients[strings.ToLower(host)] = certs.ClientAuth{CAFile: auth.CA, Mode: auth.Mode}
			}
		}
	}
	return all
}

// stamp changes when a file with authorities to trust does. Those with a certificate are looked at by who serves it.
func stamp(cfg certs.Config) string {
	names := []string{cfg.Redis.RootFile}
	for _, a := range cfg.Authorities {
		names = append(names, a.RootFile)
	}
	for _, host := range slices.Sorted(maps.Keys(cfg.Clients)) {
		names = append(names, cfg.Clients[host].CAFile)
	}
	var all strings.Builder
	for _, name := range names {
		if info, err := os.Stat(name); err == nil { // who reads it will say what is wrong with it
			fmt.Fprintln(&all, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return all.String()
}

// certificateHosts are the names of all sites, sorted; "*" comes before all others.
func certificateHosts(cfg *conf.Config) []string {
	var hosts []string
	for _, site := range cfg.Sites {
		for _, host := range site.Hosts {
			hosts = append(hosts, strings.ToLower(host))
		}
	}
	slices.Sort(hosts)
	return hosts
}

// certificateStorage is where certificates are kept, which for a look alone is a folder that goes away.
func (b *builder) certificateStorage() (dir string, free func(), err error) {
	if !b.gateway.dry {
		return b.cfg.Storage, func() {}, nil
	}
	dir, err = os.MkdirTemp("", "gateway-check-")
	// What cannot be removed is an empty folder among the temporary ones.
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// challenges answers what a certificate authority asks over plain HTTP.
func (b *builder) challenges(next http.Handler) http.Handler {
	if b.state.certs == nil {
		return next
	}
	return b.state.certs.value.HTTPChallenge(next)
}

// errUnproven is a request on a connection whose client was not asked for the certificate that the site wants.
var errUnproven = errors.New("the connection has not the client certificate that the site asks for")

// askCertificate refuses what came on a connection without the certificate that the site asks for in the handshake: over
// plain HTTP, with a name of another site or none, or from before the site asked.
func (b *builder) askCertificate(next http.Handler) http.Handler {
	kept := b.state.certs
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || kept == nil || !kept.value.ClientProven(r.TLS, hostname(r.Host)) {
			fail(w, r, errUnproven)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// CertificatePlans says for each host how it will come to its certificate. It is empty without an https listener, and
// when Check returns an error.
func CertificatePlans(cfg *conf.Config) []certs.Plan {
	if endpoint(cfg, "https") == nil {
		return nil
	}
	plans, err := certs.Plans(certificateConfig(cfg))
	if err != nil {
		return nil
	}
	return plans
}

// InternalRoots returns the certificates of the gateway's own authority, made now if they are not there yet.
func InternalRoots(cfg *conf.Config) ([]string, error) {
	return certs.RootFiles(certificateConfig(cfg))
}
