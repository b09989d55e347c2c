package proxy

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gateway/conf"
	"gateway/proxy/certs"
)

// TestProvidersAreThoseOfTheConfiguration holds the two tables together: conf checks the keys, certs reads them.
func TestProvidersAreThoseOfTheConfiguration(t *testing.T) {
	if got, want := certs.DNSProviders(), conf.DNSOptions(); !reflect.DeepEqual(got, want) {
		t.Errorf("providers = %v\nconf has    %v", got, want)
	}
}

func TestEveryKeyReachesTheCertificates(t *testing.T) {
	cfg := &conf.Config{
		Listen: []conf.Listen{{Scheme: "https", Addr: ":8443"}, {Scheme: "http", Addr: ":8080"}}, Storage: "/s",
		Sites: []conf.Site{
			{Hosts: []string{"Shop.example", "*"}, ClientCertificates: conf.ClientCertificates{CA: "/clients", Mode: "verify"}},
			{Hosts: []string{"a.example"}, ClientCertificates: conf.ClientCertificates{Mode: "require"}},
		},
		TLS: conf.TLS{
			Issuer: "acme", Email: "e", CA: "https://ca", CARoot: "/root", EABID: "id", EABKey: "key", KeyType: "p384", Curves: []string{"p256"},
			Fallback: []conf.Authority{{CA: "https://second", CARoot: "/second", EABID: "id2", EABKey: "key2"}}, Cert: "/c", Key: "/k",
			DNS:      conf.DNS{Provider: "exec", Options: []conf.Param{{Name: "command", Value: "/hook"}}, Resolvers: []string{"r:53"}, Propagation: 5},
			OnDemand: conf.OnDemand{Permission: "http://p", Cache: 6, PerMinute: 7},
			Redis:    conf.Redis{Address: conf.Endpoint{Network: "unix", Address: "/r"}, Username: "u", Password: "p", Database: 2, Prefix: "x", TLS: true, CARoot: "/q"},
		},
	}
	want := certs.Config{
		Issuer: "acme", Hosts: []string{"*", "a.example", "shop.example"}, Email: "e", KeyType: "p384", Curves: []string{"p256"},
		Authorities: []certs.Authority{
			{Directory: "https://ca", RootFile: "/root", KeyID: "id", MACKey: "key"},
			{Directory: "https://second", RootFile: "/second", KeyID: "id2", MACKey: "key2"},
		},
		HTTPPort: 8080, TLSPort: 8443, Storage: "/s", CertFile: "/c", KeyFile: "/k",
		DNS:      certs.DNS{Provider: "exec", Options: map[string]string{"command": "/hook"}, Resolvers: []string{"r:53"}, Propagation: 5},
		OnDemand: certs.OnDemand{Permission: "http://p", Cache: 6, PerMinute: 7},
		Redis:    certs.Redis{Network: "unix", Address: "/r", Username: "u", Password: "p", Database: 2, Prefix: "x", TLS: true, RootFile: "/q"},
		Clients: map[string]certs.ClientAuth{
			"shop.example": {CAFile: "/clients", Mode: "verify"}, "*": {CAFile: "/clients", Mode: "verify"},
		},
	}
	if got := certificateConfig(cfg); !reflect.DeepEqual(got, want) {
		t.Errorf("certificates = %+v\nwant           %+v", got, want)
	}
}

func TestChangedAuthorityOfClientsIsAChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clients.pem")
	cfg := certs.Config{Clients: map[string]certs.ClientAuth{"a.test": {CAFile: file}}}
	missing := stamp(cfg)
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := stamp(cfg)
	if err := os.WriteFile(file, []byte("bb"), 0o600); err != nil {
		t.Fatal(err)
	}
	if second := stamp(cfg); missing == first || first == second {
		t.Errorf("stamps = %q, %q, %q; want three", missing, first, second)
	}
}
