package certs

import (
	"crypto/tls"
	"fmt"
)

// suites are those of TLS 1.2 that hide the past from who steals the key (ECDHE) and that are not open to padding
// oracles (AEAD). Every client since 2014 has one of them. TLS 1.3 has no others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

var curveNames = map[string]tls.CurveID{
	"x25519mlkem768": tls.X25519MLKEM768,
	"x25519":         tls.X25519,
	"p256":           tls.CurveP256,
	"p384":           tls.CurveP384,
	"p521":           tls.CurveP521,
}

// baseConfig names all of it, so that neither a new Go nor GODEBUG changes what is offered.
func baseConfig(curves []string, certificate certificateFunc) (*tls.Config, error) {
	if len(curves) == 0 {
		curves = []string{"x25519mlkem768", "x25519", "p256", "p384"}
	}
	cfg := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		CipherSuites:   suites,
		NextProtos:     []string{"h2", "http/1.1", acmeProtocol},
		GetCertificate: certificate,
	}
	for _, name := range curves {
		id, known := curveNames[name]
		if !known {
			return nil, fmt.Errorf("tls.curves: unknown %q", name)
		}
		cfg.CurvePreferences = append(cfg.CurvePreferences, id)
	}
	return cfg, nil
}
