package certs

import (
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/certmagic"
)

// Config says where certificates come from.
type Config struct {
	// Issuer is "acme" (zero), "internal" or "files".
	Issuer string
	// Hosts are the names of all sites. "*.example.com" covers one label, "*" whatever no other covers. The first
	// name without a star answers clients that name none.
	Hosts []string

	// Email is the contact of the ACME accounts. It may be empty.
	Email string
	// Authorities are asked in this order until one gives a certificate. None means Let's Encrypt.
	Authorities []Authority
	// HTTPPort is the port of our plain listener. Zero means that there is none, and no HTTP-01.
	HTTPPort int
	// TLSPort is the port of our TLS listener. Zero means that there is none, and no TLS-ALPN-01.
	TLSPort int
	// DNS proves names by records in their zones, instead of at those ports, when it has a Provider.
	DNS DNS
	// OnDemand gets certificates for names that only a pattern covers, when it has a Permission.
	OnDemand OnDemand
	// KeyType is "p256" (zero), "p384" or "rsa2048".
	KeyType string

	// Curves are the key exchanges offered, by preference: "x25519mlkem768", "x25519", "p256", "p384", "p521".
	// None means the first four.
	Curves []string
	// Clients says which hosts ask clients for a certificate of theirs. Its keys are of Hosts.
	Clients map[string]ClientAuth

	// Storage is the directory of keys and certificates, made with mode 0700. Files alone need none.
	Storage string
	// Redis has certificates, accounts, challenges and ticket keys instead of Storage, when it has an Address.
	Redis Redis
	// CertFile and KeyFile are the PEM chain and key for "files". They are read again when they change.
	CertFile, KeyFile string
	// Logger hears of certificates obtained, renewed and refused. Nil means silence.
	Logger *zap.Logger

	now         func() time.Time                          // nil means time.Now
	stapleEvery time.Duration                             // between two looks at their revocation; zero: an hour
	renewEvery  time.Duration                             // between two looks at the age of certificates; zero: 10 min
	wrap        func(certmagic.Storage) certmagic.Storage // nil means none; for tests of a storage that fails
}

// Authority is an ACME authority.
type Authority struct {
	// Directory is its URL.
	Directory string
	// RootFile is a PEM file with the roots that vouch for the directory itself. Empty means the system's.
	RootFile string
	// KeyID and MACKey, in base64url, bind the account to one that the authority knows (RFC 8555, 7.3.4). Both or
	// none.
	KeyID, MACKey string
}

func (cfg Config) withDefaults() Config {
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	if len(cfg.Authorities) == 0 {
		cfg.Authorities = []Authority{{Directory: certmagic.LetsEncryptProductionCA}}
	}
	cfg.Hosts = normalizeAll(cfg.Hosts)
	return cfg
}
