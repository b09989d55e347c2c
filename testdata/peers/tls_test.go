package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"testing"
)

func someCertificate(t *testing.T) *certificate {
	t.Helper()
	c, err := newCertificate(t.TempDir(), []string{laravelHost, helloHost})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCertificateIsECDSAAndGoodForItsHosts(t *testing.T) {
	c := someCertificate(t)
	pair, err := tls.LoadX509KeyPair(c.File, c.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got := pair.Leaf.PublicKeyAlgorithm; got != x509.ECDSA || len(pair.Certificate) != 1 {
		t.Errorf("%v and %d certificates, want ECDSA and one", got, len(pair.Certificate))
	}
	for host, good := range map[string]bool{laravelHost: true, helloHost: true, "other.bench": false} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: c.roots}); (err == nil) != good {
			t.Errorf("%s: %v, want it to be good: %v", host, err, good)
		}
	}
	if stat, err := os.Stat(c.Key); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("the key may be read by others: %v, %v", stat, err)
	}
}

// shaken is a sample of a row over TLS.
func shaken(row, peer, said string) sample {
	s := taken(1, peer, 1000)
	s.Row, s.TLS = row, said
	return s
}

func TestRowWhosePeersNegotiateDifferentlyIsInvalid(t *testing.T) {
	const one, other = "TLS 1.3, one, X25519", "TLS 1.3, other, X25519"
	cut := shaken("f", "caddy", "")
	cut.Invalid = "1 failed: EOF"
	samples := []sample{
		taken(1, reference, 1000),
		shaken("f", reference, one), cut, shaken("f", "gateway", other),
		shaken("g", reference, one), shaken("g", "gateway", one),
	}
	sameTLS(samples)
	const differ = "the peers negotiate differently: " + one + "; " + other
	var got []string
	for _, s := range samples {
		got = append(got, s.Invalid)
	}
	if want := []string{"", differ, cut.Invalid, differ, "", ""}; !slices.Equal(got, want) {
		t.Errorf("invalid = %q\nwant      %q", got, want)
	}
	facts := tlsFacts(samples, allPeers())
	want := []fact{{"TLS of nginx", one}, {"TLS of gateway", other + "; " + one}}
	if !slices.Equal(facts, want) {
		t.Errorf("facts = %q, want %q", facts, want)
	}
}
