package certs

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// resumed makes a connection with a client that remembers sessions, and tells whether it went on with an earlier one.
func resumed(t *testing.T, addr net.Addr, cfg *tls.Config) bool {
	t.Helper()
	conn, err := tls.Dial("tcp", addr.String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The ticket comes after the handshake, before the first answer.
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().DidResume
}

func started(t *testing.T, cfg Config) (*Manager, net.Addr) {
	t.Helper()
	m := newManager(t, cfg)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m, serve(t, m)
}

func TestSessionGoesOnWithAnotherGatewayOfTheSameStorage(t *testing.T) {
	cfg := Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: t.TempDir()}
	m, first := started(t, cfg)
	_, second := started(t, cfg)
	cfg.Storage = t.TempDir()
	_, stranger := started(t, cfg)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := trusting(t, m, "localhost")
		client.ClientSessionCache, client.MaxVersion = tls.NewLRUClientSessionCache(1), version
		if resumed(t, first, client) {
			t.Error("resumed what never was")
		}
		if !resumed(t, first, client) || !resumed(t, second, client) {
			t.Errorf("%s: not resumed", tls.VersionName(version))
		}
		client.InsecureSkipVerify = true
		if resumed(t, stranger, client) {
			t.Errorf("%s: resumed with another storage", tls.VersionName(version))
		}
	}
}

func TestTicketKeysAreRotatedAndForgotten(t *testing.T) {
	dir, at := t.TempDir(), &clock{time.Now()}
	cfg := Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: dir, now: at.now}
	m, other := newManager(t, cfg), newManager(t, cfg)
	later := func(d time.Duration, t *tickets) {
		at.Time = at.Add(d)
		t.refresh(context.Background())
	}
	later(0, m.tickets)
	first := storedKeys(t, dir)
	if len(first) != 1 {
		t.Fatalf("%d keys at the start, want 1", len(first))
	}
	later(ticketRotation-time.Second, other.tickets)
	if got := storedKeys(t, dir); len(got) != 1 {
		t.Fatalf("%d keys before the rotation, want 1", len(got))
	}
	later(time.Second, m.tickets)
	later(0, other.tickets)
	if got := storedKeys(t, dir); len(got) != 2 || string(got[1].Secret) != string(first[0].Secret) {
		t.Fatalf("%d keys after it, want the new one and the old one", len(got))
	}
	for range 5 {
		later(ticketRotation, other.tickets)
	}
	if got := storedKeys(t, dir); len(got) != ticketsKept {
		t.Errorf("%d keys are kept, want %d", len(got), ticketsKept)
	}
}

// TestNewKeyWaitsUntilAllHaveHeardOfIt has one gateway rotate while another has not looked since.
func TestNewKeyWaitsUntilAllHaveHeardOfIt(t *testing.T) {
	at := &clock{time.Now()}
	cfg := Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: t.TempDir(), now: at.now}
	m, other := newManager(t, cfg), newManager(t, cfg)
	first, second := serve(t, m), serve(t, other)
	m.tickets.refresh(t.Context())
	other.tickets.refresh(t.Context())
	goesOn := func() bool {
		client := trusting(t, m, "localhost")
		client.ClientSessionCache, client.Time = tls.NewLRUClientSessionCache(1), at.now
		resumed(t, first, client)
		return resumed(t, second, client)
	}
	at.Time = at.Add(ticketRotation)
	m.tickets.refresh(t.Context())
	if !goesOn() {
		t.Error("a ticket was made with a key that the other does not know")
	}
	at.Time = at.Add(2 * ticketPoll)
	m.tickets.refresh(t.Context())
	if goesOn() {
		t.Error("the new key is not used")
	}
	other.tickets.refresh(t.Context())
	if !goesOn() {
		t.Error("the other does not know the key though it looked")
	}
}

func storedKeys(t *testing.T, dir string) (keys []ticketKey) {
	t.Helper()
	name := filepath.Join(dir, "tickets", "keys.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("mode = %v, %v; want 0600", info.Mode(), err)
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestBrokenTicketKeysLeaveThoseOfBefore(t *testing.T) {
	dir := t.TempDir()
	m := newManager(t, Config{Issuer: "internal", Hosts: []string{"localhost"}, Storage: dir})
	m.tickets.refresh(t.Context())
	before := m.tickets.kept
	for _, text := range []string{"{", `[{"secret":"AAAA"}]`} {
		if err := os.WriteFile(filepath.Join(dir, "tickets", "keys.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m.tickets.refresh(t.Context())
		if len(m.tickets.kept) != 1 || &m.tickets.kept[0] != &before[0] {
			t.Errorf("%s: the keys changed", text)
		}
	}
}
