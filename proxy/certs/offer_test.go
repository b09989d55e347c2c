package certs

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// alert is what a handshake ended in.
type alert byte

const (
	handshakeFailure alert = 40
	protocolVersion  alert = 70
	noProtocol       alert = 120
	accepted         alert = 0 // a ServerHello came
)

// rawHello is a ClientHello as no library sends it any more.
func rawHello(version uint16, suites ...uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, version)
	body = append(body, make([]byte, 32)...) // random
	body = append(body, 0)                   // no session
	body = binary.BigEndian.AppendUint16(body, uint16(2*len(suites)))
	for _, suite := range suites {
		body = binary.BigEndian.AppendUint16(body, suite)
	}
	body = append(body, 1, 0) // no compression
	extensions := []byte{
		0, 10, 0, 8, 0, 6, 0, 29, 0, 23, 0, 24, // supported groups: X25519, P-256, P-384
		0, 11, 0, 2, 1, 0, // point formats: uncompressed
		0, 13, 0, 14, 0, 12, 4, 3, 5, 3, 8, 4, 4, 1, 2, 3, 2, 1, // signatures: ECDSA, PSS, PKCS#1, SHA-1
		0, 0, 0, 14, 0, 12, 0, 0, 9, // server name, 9 bytes:
	}
	extensions = append(extensions, "localhost"...)
	body = binary.BigEndian.AppendUint16(body, uint16(len(extensions)))
	body = append(body, extensions...)
	hello := append([]byte{1, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	record := []byte{22, 3, 0}
	record = binary.BigEndian.AppendUint16(record, uint16(len(hello)))
	return append(record, hello...)
}

// probe sends a ClientHello and returns how the server answers.
func probe(t *testing.T, addr net.Addr, hello []byte) alert {
	t.Helper()
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Write(hello); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 7)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return handshakeFailure // closed without a word
	}
	if answer[0] == 22 {
		return accepted
	}
	return alert(answer[6])
}

func offering(t *testing.T) (*Manager, net.Addr) {
	t.Helper()
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: t.TempDir()})
	return m, serve(t, m)
}

func TestNothingBelowTLS12IsOffered(t *testing.T) {
	m, addr := offering(t)
	for version, want := range map[uint16]alert{0x0200: protocolVersion, 0x0300: protocolVersion, 0x0301: protocolVersion, 0x0302: protocolVersion, 0x0303: accepted} {
		if got := probe(t, addr, rawHello(version, suites...)); got != want {
			t.Errorf("version %#x: alert %d, want %d", version, got, want)
		}
	}
	ssl2 := []byte{0x80, 0x2e, 1, 0, 2, 0, 21, 0, 0, 0, 16, 7, 0, 192, 5, 0, 128, 3, 0, 128, 1, 0, 128, 8, 0, 128, 6, 0, 64, 4, 0, 128, 2, 0, 128}
	if got := probe(t, addr, append(ssl2, make([]byte, 13)...)); got == accepted {
		t.Error("SSL 2 is spoken")
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cfg := trusting(t, m, "localhost")
		cfg.MinVersion, cfg.MaxVersion = version, version
		if _, err := shake(t, addr, cfg); err != nil {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

// TestOnlySoundSuitesAreOffered asks for each of the 65,536 there could be, many at a time: among all but the sound ones
// the server must find none, and each sound one it must take.
func TestOnlySoundSuitesAreOffered(t *testing.T) {
	_, addr := offering(t)
	tls13 := []uint16{tls.TLS_AES_128_GCM_SHA256, tls.TLS_AES_256_GCM_SHA384, tls.TLS_CHACHA20_POLY1305_SHA256}
	var others []uint16
	for suite := range 1 << 16 {
		if id := uint16(suite); !slices.Contains(suites, id) && !slices.Contains(tls13, id) && id != tls.TLS_FALLBACK_SCSV {
			others = append(others, id)
		}
	}
	for some := range slices.Chunk(others, 4000) {
		if got := probe(t, addr, rawHello(0x0303, some...)); got != handshakeFailure {
			t.Errorf("suites %#x to %#x: alert %d, want %d", some[0], some[len(some)-1], got, handshakeFailure)
		}
	}
	for _, suite := range suites {
		want := accepted
		if name := tls.CipherSuiteName(suite); name[:len("TLS_ECDHE_RSA")] == "TLS_ECDHE_RSA" {
			want = handshakeFailure // sound, but the certificate has another kind of key
		}
		if got := probe(t, addr, rawHello(0x0303, suite)); got != want {
			t.Errorf("%s: alert %d, want %d", tls.CipherSuiteName(suite), got, want)
		}
	}
	// A client that comes back with less than it could (RFC 7507).
	if got := probe(t, addr, rawHello(0x0302, append([]uint16{tls.TLS_FALLBACK_SCSV}, suites...)...)); got == accepted {
		t.Error("a downgrade was accepted")
	}
}

func TestNoSuiteNeedsMoreThanTheTable(t *testing.T) {
	for _, suite := range tls.InsecureCipherSuites() {
		if slices.Contains(suites, suite.ID) {
			t.Errorf("%s is known to be insecure", suite.Name)
		}
	}
}

func TestProtocolIsAgreedOn(t *testing.T) {
	m, addr := offering(t)
	for _, c := range []struct {
		offered []string
		want    string
		fails   bool
	}{
		{[]string{"h2", "http/1.1"}, "h2", false},
		{[]string{"http/1.1", "h2"}, "h2", false},
		{[]string{"http/1.1"}, "http/1.1", false},
		{nil, "", false},
		{[]string{"spdy/3", "http/1.1"}, "http/1.1", false},
		{[]string{"spdy/3"}, "", true},
	} {
		cfg := trusting(t, m, "localhost")
		cfg.NextProtos = c.offered
		conn, err := tls.Dial("tcp", addr.String(), cfg)
		if (err != nil) != c.fails {
			t.Errorf("%q: err = %v", c.offered, err)
		}
		if err != nil {
			continue
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != c.want {
			t.Errorf("%q: protocol = %q, want %q", c.offered, got, c.want)
		}
		conn.Close()
	}
}

func TestKeyExchangeIsOfThePreferredOnes(t *testing.T) {
	for _, c := range []struct {
		ours []string
		want tls.CurveID // what a client that knows all gets; zero: none in common
	}{
		{nil, tls.X25519MLKEM768},
		{[]string{"x25519", "p256"}, tls.X25519},
		{[]string{"p384"}, tls.CurveP384},
	} {
		m := newManager(t, Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: t.TempDir(), Curves: c.ours})
		conn, err := tls.Dial("tcp", serve(t, m).String(), trusting(t, m, "localhost"))
		if err != nil {
			t.Errorf("%q: %v", c.ours, err)
			continue
		}
		if got := conn.ConnectionState().CurveID; got != c.want {
			t.Errorf("%q: key exchange = %v, want %v", c.ours, got, c.want)
		}
		conn.Close()
	}
	_, addr := offering(t)
	dialer := tls.Dialer{Config: &tls.Config{ServerName: "localhost", InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.CurveP521}}}
	if conn, err := dialer.DialContext(context.Background(), "tcp", addr.String()); err == nil {
		conn.Close()
		t.Error("P-521 is offered though nobody asked for it")
	}
}
