package stack

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// PebbleConfig is how an ACME authority behaves.
type PebbleConfig struct {
	// HTTPPort and TLSPort are where it comes to validate a name, at 127.0.0.1 whatever the name.
	HTTPPort, TLSPort int
	// Validity is that of its certificates. Zero means an hour.
	Validity time.Duration
	// NonceReject is how many of a hundred requests it refuses for their nonce, as authorities may. Zero means none.
	NonceReject int
	// EABKey, in base64url, is the key of the external account "kid", which clients then need.
	EABKey string
	// DNS is the address of the DNS server that it asks. Empty means its own.
	DNS string
	// OCSP is the URL of the responder that its certificates name. Empty means none.
	OCSP string
}

// PebbleServer is Pebble, the ACME authority that Let's Encrypt gives away for tests, and its DNS server.
type PebbleServer struct {
	service
	Directory string         // URL
	RootFile  string         // vouches for Directory
	Roots     *x509.CertPool // of the certificates it issues
	Control   string         // URL of its DNS server's control: POST /set-txt, /clear-txt
	trust     *http.Client
	manage    string
}

// Pebble starts an authority, which ends with the test.
func Pebble(t T, cfg PebbleConfig) *PebbleServer {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gw")
	if err != nil {
		t.Fatalf("pebble: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &PebbleServer{RootFile: filepath.Join(dir, "tls.crt"), Roots: x509.NewCertPool()}
	if err := p.certify(dir); err != nil {
		t.Fatalf("pebble: %v", err)
	}
	dns := cfg.DNS
	if dns == "" {
		dns = p.startDNS(t, dir)
	}
	start(t, 2, func(addrs []string) *service { return p.build(t, dir, dns, cfg, addrs) })
	if root := p.Manage(t, "/roots/0"); !p.Roots.AppendCertsFromPEM(root) {
		t.Fatalf("pebble: no root in %q", root)
	}
	return p
}

// Manage returns what the authority tells those who test with it, such as "/intermediate-keys/0".
func (p *PebbleServer) Manage(t T, path string) []byte {
	t.Helper()
	resp, err := p.trust.Get(p.manage + path)
	if err != nil {
		t.Fatalf("pebble: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("pebble: %v", err)
	}
	return body
}

func (p *PebbleServer) build(t T, dir, dns string, cfg PebbleConfig, addrs []string) *service {
	t.Helper()
	validity := cfg.Validity
	if validity == 0 {
		validity = time.Hour
	}
	settings := map[string]any{
		"listenAddress": addrs[0], "managementListenAddress": addrs[1],
		"certificate": p.RootFile, "privateKey": filepath.Join(dir, "tls.key"),
		"httpPort": cfg.HTTPPort, "tlsPort": cfg.TLSPort,
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		// One alone: it chooses at random among several.
		"profiles": map[string]any{"default": map[string]any{"validityPeriod": int(validity.Seconds())}},
	}
	if cfg.OCSP != "" {
		settings["ocspResponderURL"] = cfg.OCSP
	}
	if cfg.EABKey != "" {
		settings["externalAccountBindingRequired"] = true
		settings["externalAccountMACKeys"] = map[string]string{"kid": cfg.EABKey}
	}
	text, err := json.Marshal(map[string]any{"pebble": settings})
	if err != nil {
		t.Fatalf("pebble: %v", err)
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatalf("pebble: %v", err)
	}
	p.Directory, p.manage = "https://"+addrs[0]+"/dir", "https://"+addrs[1]
	p.service.name, p.service.log = "pebble", filepath.Join(dir, "pebble.log")
	p.service.argv = []string{installed(t, "pebble"), "-config", file, "-dnsserver", dns, "-strict"}
	p.service.env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT="+strconv.Itoa(cfg.NonceReject))
	p.service.ready = func() error { return p.answers(p.Directory, p.manage+"/roots/0") }
	return &p.service
}

func (p *PebbleServer) answers(urls ...string) error {
	for _, url := range urls {
		resp, err := p.trust.Get(url)
		if err != nil {
			return err
		}
		resp.Body.Close()
	}
	return nil
}

// startDNS runs the server that sends every name to loopback, and that can be told TXT records.
func (p *PebbleServer) startDNS(t T, dir string) string {
	t.Helper()
	var dns string
	start(t, 2, func(addrs []string) *service {
		dns, p.Control = addrs[0], "http://"+addrs[1]
		return &service{
			name: "pebble-challtestsrv", log: filepath.Join(dir, "dns.log"), env: os.Environ(),
			argv: []string{
				installed(t, "pebble-challtestsrv"), "-dnsserver", addrs[0], "-management", addrs[1],
				"-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "",
			},
			ready: func() error {
				resp, err := http.Post(p.Control+"/set-txt", "application/json", bytes.NewReader([]byte(`{"host":"ready.","value":"x"}`)))
				if err == nil {
					resp.Body.Close()
				}
				return err
			},
		}
	})
	return dns
}

// certify makes the certificate that the authority itself shows, and a client that trusts it.
func (p *PebbleServer) certify(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	p.trust = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	if err := os.WriteFile(p.RootFile, certPEM, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tls.key"), keyPEM, 0o600)
}

// installed finds a program that install.sh built or installed.
func installed(t T, name string) string {
	t.Helper()
	source, err := sourceDir()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return program(t, &Application{Source: source}, name)
}
