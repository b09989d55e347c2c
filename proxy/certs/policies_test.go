package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientCA is an authority for clients: its file, and a certificate by it.
func clientCA(t *testing.T, name string) (file string, pair tls.Certificate) {
	t.Helper()
	key, template := testKey(t), testTemplate(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	pair = selfSigned(t, template, key)
	file = filepath.Join(t.TempDir(), name+".pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, pair
}

// guarded has one site that asks for a certificate, one that verifies it, and one that does not care.
func guarded(t *testing.T) (*Manager, net.Addr, tls.Certificate, tls.Certificate) {
	t.Helper()
	good, ours := clientCA(t, "ours")
	_, theirs := clientCA(t, "theirs")
	m, addr := started(t, Config{
		Issuer: "internal", Hosts: []string{"admin.test", "open.test", "*.soft.test", "plain.soft.test", "127.0.0.1"}, Storage: t.TempDir(),
		Clients: map[string]ClientAuth{
			"admin.test": {CAFile: good}, "*.soft.test": {CAFile: good, Mode: "verify"}, "127.0.0.1": {CAFile: good, Mode: "require"},
		},
	})
	return m, addr, ours, theirs
}

// speak makes a whole exchange: in TLS 1.3 the server's verdict comes after the client's handshake.
func speak(t *testing.T, m *Manager, addr net.Addr, name string, own ...tls.Certificate) (tls.ConnectionState, error) {
	t.Helper()
	cfg := trusting(t, m, name)
	cfg.Certificates = own
	cfg.NextProtos = []string{"http/1.1"}
	conn, err := tls.Dial("tcp", addr.String(), cfg)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		return tls.ConnectionState{}, err
	}
	_, err = conn.Read(make([]byte, 1))
	return conn.ConnectionState(), err
}

func TestClientCertificates(t *testing.T) {
	m, addr, ours, theirs := guarded(t)
	for _, c := range []struct {
		name string
		own  []tls.Certificate
		ok   bool
	}{
		{"admin.test", nil, false},
		{"admin.test", []tls.Certificate{ours}, true},
		{"admin.test", []tls.Certificate{theirs}, false},
		{"a.soft.test", nil, true},
		{"a.soft.test", []tls.Certificate{ours}, true},
		{"plain.soft.test", nil, true},
		{"open.test", nil, true},
		{"open.test", []tls.Certificate{theirs}, true},
		{"127.0.0.1", nil, false},
		{"127.0.0.1", []tls.Certificate{ours}, true},
	} {
		if _, err := speak(t, m, addr, c.name, c.own...); (err == nil) != c.ok {
			t.Errorf("%s with %d certificates: err = %v, want success %v", c.name, len(c.own), err, c.ok)
		}
	}
}

func TestSessionOfAnOpenSiteDoesNotGoOnWithAGuardedOne(t *testing.T) {
	m, addr, _, _ := guarded(t)
	sessions := tls.NewLRUClientSessionCache(8)
	client := trusting(t, m, "open.test")
	client.ClientSessionCache, client.InsecureSkipVerify = sessions, true // or the client would keep the ticket back itself
	resumed(t, addr, client)
	if !resumed(t, addr, client) {
		t.Fatal("sessions are not resumed at all")
	}
	// The same ticket for a guarded name, which a client of bad will can arrange.
	state, _ := sessions.Get("open.test")
	for _, name := range []string{"admin.test", "a.soft.test"} {
		sessions.Put(name, state)
		client = client.Clone()
		client.ServerName = name
		conn, err := tls.Dial("tcp", addr.String(), client)
		if err != nil {
			continue
		}
		if conn.ConnectionState().DidResume {
			t.Errorf("%s: the session went on", name)
		}
		conn.Close()
	}
}

func TestClientProven(t *testing.T) {
	m, _, ours, theirs := guarded(t)
	chain := func(pair tls.Certificate) [][]*x509.Certificate {
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return [][]*x509.Certificate{{leaf}}
	}
	for _, c := range []struct {
		sni, host string
		chains    [][]*x509.Certificate
		want      bool
	}{
		{"open.test", "open.test", nil, true},
		{"open.test", "admin.test", nil, false},
		{"open.test", "ADMIN.test.", nil, false},
		{"open.test", "a.soft.test", nil, false}, // it had no occasion to show a certificate
		{"admin.test", "open.test", chain(ours), true},
		{"admin.test", "admin.test", chain(ours), true},
		{"admin.test", "admin.test", nil, false}, // a connection from before the site asked
		{"admin.test", "a.soft.test", chain(ours), true},
		{"a.soft.test", "b.soft.test", nil, true},
		{"a.soft.test", "admin.test", nil, false},
		{"a.soft.test", "admin.test", chain(ours), true},
		{"a.soft.test", "admin.test", chain(theirs), false},
		{"", "127.0.0.1", chain(ours), true},
		{"", "127.0.0.1", nil, false},
		{"", "open.test", nil, true},
	} {
		state := &tls.ConnectionState{ServerName: c.sni, VerifiedChains: c.chains}
		if got := m.ClientProven(state, c.host); got != c.want {
			t.Errorf("%q asking for %q with %d chains: %v, want %v", c.sni, c.host, len(c.chains), got, c.want)
		}
	}
}

func TestBadClientAuthority(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, "/nowhere"} {
		_, err := New(Config{Hosts: []string{"a.test"}, Storage: t.TempDir(), Clients: map[string]ClientAuth{"a.test": {CAFile: file}}})
		if err == nil || !strings.HasPrefix(err.Error(), "client_certificates.ca:") || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: err = %v", file, err)
		}
	}
}
