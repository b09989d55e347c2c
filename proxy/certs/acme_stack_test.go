//go:build stack

package certs

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gateway/testdata/stack"
)

func byHTTP(cfg *Config, _ *front) { cfg.TLSPort = 0 }

func TestCertificateByHTTP01(t *testing.T) {
	f, cfg := newFront(t, nil, byHTTP)
	leaf := f.start(t)

	// The internal authority goes on beside the public one.
	if _, err := shake(t, f.addr, trusting(t, f.manager, "localhost")); err != nil {
		t.Errorf("localhost: %v", err)
	}
	if s := status(t, f.manager, f.host); s.Source != "acme" || !s.Until.Equal(leaf.NotAfter) || s.Problem != "" {
		t.Errorf("status = %+v", s)
	}
	// A reload or a restart makes a new manager on the same storage: its very first handshake must have the
	// certificate, and the authority is not asked, for it is not there.
	f.pebble.Stop()
	next := newManager(t, cfg)
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	hello := &tls.ClientHelloInfo{ServerName: f.host, Conn: server}
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := next.TLSConfig().GetCertificate(hello)
	if err != nil || !again.Leaf.Equal(leaf) {
		t.Errorf("after a reload: certificate = %v, %v; want the same as before", again, err)
	}
}

func TestCertificateByTLSALPN01(t *testing.T) {
	f, _ := newFront(t, nil, func(cfg *Config, _ *front) { cfg.HTTPPort = 0 })
	f.start(t)
}

func TestRefusedNoncesAreTriedAgain(t *testing.T) {
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.NonceReject = 40 }, nil)
	f.start(t)
}

func TestExternalAccountIsBound(t *testing.T) {
	key := base64.RawURLEncoding.EncodeToString([]byte("a key of thirty-two bytes' length"))
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.EABKey = key }, func(cfg *Config, _ *front) {
		cfg.Authorities[0].KeyID, cfg.Authorities[0].MACKey = "kid", key
	})
	f.start(t)
}

func TestSecondAuthorityHelpsOut(t *testing.T) {
	f, _ := newFront(t, nil, func(cfg *Config, _ *front) {
		nobody, _ := listen(t)
		nobody.Close()
		gone := Authority{Directory: "https://" + nobody.Addr().String() + "/dir"}
		cfg.Authorities = append([]Authority{gone}, cfg.Authorities...)
	})
	f.start(t)
}

// TestWildcardByHook has a program set the record, as an operator would write it.
func TestWildcardByHook(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	f, _ := newFront(t, nil, func(cfg *Config, f *front) {
		script := "#!/bin/sh\nset -e\ncase $1 in\n" +
			"present) curl -sf -d \"{\\\"host\\\":\\\"$2.\\\",\\\"value\\\":\\\"$3\\\"}\" " + f.pebble.Control + "/set-txt ;;\n" +
			"cleanup) curl -sf -d \"{\\\"host\\\":\\\"$2.\\\"}\" " + f.pebble.Control + "/clear-txt; : >" + hook + ".cleaned ;;\nesac\n"
		if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		cfg.Hosts = []string{"*." + f.host}
		cfg.DNS = DNS{Provider: "exec", Options: map[string]string{"command": hook}}
		cfg.HTTPPort, cfg.TLSPort = 0, 0
	})
	if err := f.manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.await(t, "any."+f.host)
	until(t, "the record's removal", func() error {
		_, err := os.Stat(hook + ".cleaned")
		return err
	})
}

func TestFailedHookIsTold(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho no such zone\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, _ := newFront(t, nil, func(cfg *Config, _ *front) {
		cfg.DNS = DNS{Provider: "exec", Options: map[string]string{"command": hook}}
	})
	if err := f.manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the problem", func() error {
		return problem(t, f.manager, f.host, "exit status 3: no such zone")
	})
}

func TestEndedCertificateIsRenewedAtTheStart(t *testing.T) {
	f, cfg := newFront(t, func(pc *stack.PebbleConfig) { pc.Validity = 5 * time.Second }, byHTTP)
	leaf := f.start(t)
	until(t, "the end of the certificate", func() error {
		if time.Now().After(leaf.NotAfter) {
			return nil
		}
		return errors.New("it still holds")
	})
	next := newManager(t, cfg)
	at := serve(t, next)
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "a renewed certificate", func() error {
		renewed, err := f.leaf(t, at, f.host)
		if err == nil && renewed.Equal(leaf) {
			err = errors.New("it is the old one")
		}
		return err
	})
}

func TestCertificateIsRenewedWhileItServes(t *testing.T) {
	f, _ := newFront(t, func(pc *stack.PebbleConfig) { pc.Validity = 20 * time.Second }, func(cfg *Config, _ *front) {
		cfg.renewEvery = 500 * time.Millisecond
	})
	leaf := f.start(t)
	until(t, "a renewed certificate", func() error {
		renewed, err := f.leaf(t, f.addr, f.host)
		if err != nil {
			t.Fatalf("a handshake failed meanwhile: %v", err)
		}
		if renewed.Equal(leaf) {
			return errors.New("it is the old one")
		}
		return nil
	})
}

// problem returns nil if the status of a host tells of a problem with these words.
func problem(t *testing.T, m *Manager, host, words string) error {
	t.Helper()
	if s := status(t, m, host); !contains(s.Problem, words) {
		return fmt.Errorf("status = %+v, want the problem %q", s, words)
	}
	return nil
}
