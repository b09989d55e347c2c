package conf

import "time"

// TLS says where certificates come from.
type TLS struct {
	// Issuer is "acme", "internal" (an own authority, for machines without a public name) or
	// "files". Default: acme.
	Issuer string `toml:"issuer" default:"acme" oneof:"acme internal files"`
	// Email is the contact given to the ACME authorities. Default: none.
	Email string `toml:"email"`
	// CA is the URL of the ACME directory. Default: Let's Encrypt; with Staging, Let's Encrypt's for trials.
	CA string `toml:"ca,https" default:"https://acme-v02.api.letsencrypt.org/directory"`
	// CARoot is a PEM file of roots to trust when CA is spoken to. Default: those of the system.
	CARoot string `toml:"ca_root,path"`
	// EABID and EABKey bind the ACME account to one that CA has given out on its own pages (RFC 8555, 7.3.4).
	// Default: none.
	EABID  string `toml:"eab_id"`
	EABKey string `toml:"eab_key,secret"`
	// Staging asks Let's Encrypt's authority for trials, whose certificates no browser trusts. Default: false.
	Staging bool `toml:"staging" default:"false"`
	// Fallback are further ACME authorities, tried in this order when those before did not help. Default: none.
	Fallback []Authority `toml:"fallback"`
	// KeyType is the kind of key that certificates have: "p256", "p384" or "rsa2048". Default: p256.
	KeyType string `toml:"key_type" default:"p256" oneof:"p256 p384 rsa2048"`
	// Curves are the key exchanges offered, in the order of preference among what a client offers to share.
	// Default: x25519mlkem768, x25519, p256 and p384.
	Curves []string `toml:"curves" default:"x25519mlkem768 x25519 p256 p384" oneof:"x25519mlkem768 x25519 p256 p384 p521"`
	// Cert is the PEM file of the certificate and its chain, for Issuer "files" only.
	Cert string `toml:"cert,path"`
	// Key is the PEM file of the private key, for Issuer "files" only.
	Key string `toml:"key,path"`
	// DNS proves names by records in their zone.
	DNS DNS `toml:"dns"`
	// OnDemand gets certificates for names that no site lists.
	OnDemand OnDemand `toml:"on_demand"`
	// Redis keeps certificates for several gateways.
	Redis Redis `toml:"redis"`
}

// Authority is one more ACME authority.
type Authority struct {
	// CA, CARoot, EABID and EABKey are what they are in TLS.
	CA     string `toml:"ca,https" required:"true"`
	CARoot string `toml:"ca_root,path"`
	EABID  string `toml:"eab_id"`
	EABKey string `toml:"eab_key,secret"`
}

// DNS proves to an ACME authority that a name is ours by a record in its zone (DNS-01), which wildcards need.
type DNS struct {
	// Provider is who has the zone, a key of DNSOptions. Default: none, and no DNS-01.
	Provider string `toml:"provider"`
	// Options are the provider's own settings, in the order of their names.
	Options []Param `toml:"*"`
	// Resolvers are the DNS servers asked for the zone and its records, each host:port. Default: those of the system
	// for the zone, and the zone's own for its records.
	Resolvers []string `toml:"resolvers,resolver"`
	// Propagation is how long a record may take until it is seen. Zero: it is not looked for. Default: 2 min.
	Propagation time.Duration `toml:"propagation,duration" default:"2m" max:"1h"`
}

// OnDemand gets a certificate at the first handshake for a name that only a pattern covers.
type OnDemand struct {
	// Permission is the URL that is asked, with ?domain=NAME added; a status from 200 to 299 allows. Default: none, and nothing on demand.
	Permission string `toml:"permission,url"`
	// Cache is how long an answer is remembered. Default: 10 min.
	Cache time.Duration `toml:"cache,duration" default:"10m" min:"1s" max:"30d"`
	// PerMinute limits new certificates. Default: 10.
	PerMinute int `toml:"per_minute" default:"10" min:"1" max:"1000"`
}

// Redis keeps certificates, accounts, challenges and ticket keys where several gateways find them.
type Redis struct {
	// Address is where it is. Default: none; all is kept in Storage.
	Address Endpoint `toml:"address,redis"`
	// Username and Password are shown to it. Default: none.
	Username string `toml:"username"`
	Password string `toml:"password,secret"`
	// Database is the number of the database. Default: 0.
	Database int `toml:"database" default:"0" max:"1000"`
	// Prefix begins every key. Default: gateway.
	Prefix string `toml:"prefix,token" default:"gateway"`
	// TLS speaks TLS to it, with the roots in CARoot, a PEM file; default: no, and those of the system.
	TLS    bool   `toml:"tls" default:"false"`
	CARoot string `toml:"ca_root,path"`
}

// letsEncryptStaging is the ACME directory of Let's Encrypt's authority for trials.
const letsEncryptStaging = "https://acme-staging-v02.api.letsencrypt.org/directory"

// DNSOptions returns the settings that each DNS provider has, all of them strings.
func DNSOptions() map[string][]string {
	return map[string][]string{
		"acmedns":      {"password", "server_url", "subdomain", "username"},
		"cloudflare":   {"api_token", "zone_token"},
		"digitalocean": {"auth_token"},
		"exec":         {"command"},
		"hetzner":      {"api_token"},
		"rfc2136":      {"key", "key_alg", "key_name", "server"},
		"route53":      {"access_key_id", "hosted_zone_id", "profile", "region", "secret_access_key", "session_token"},
	}
}
