// Package trust makes the programs of this machine trust a root certificate, and takes that back: the system's store,
// the NSS databases of browsers, and Java's keystore.
//
// It runs the tools that each store comes with, as the user who started it and never through sudo.
package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Root is a root certificate in a file.
type Root struct {
	File        string
	Certificate *x509.Certificate
}

// Load reads the first certificate of a PEM file.
func Load(file string) (Root, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Root{}, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return Root{}, fmt.Errorf("no certificate in %s", file)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Root{}, fmt.Errorf("%s: %w", file, err)
	}
	return Root{file, certificate}, nil
}

// alias is the root's name in a store. It has a digest, so that no other certificate has it.
func (r Root) alias() string {
	sum := sha256.Sum256(r.Certificate.Raw)
	return fmt.Sprintf("gateway-internal-root-%x", sum[:6])
}

// Store is a place that programs look for roots in.
type Store interface {
	// Name is for people, such as "system" or "nss /home/me/.pki/nssdb".
	Name() string
	// Has tells whether the root is there.
	Has(ctx context.Context, root Root) (bool, error)
	// Add and Remove change the store. What is so already is no error. An error may be a *DeniedError.
	Add(ctx context.Context, root Root) error
	Remove(ctx context.Context, root Root) error
}

// DeniedError is a store that this user may not change.
type DeniedError struct {
	Path string
	Err  error
}

func (e *DeniedError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *DeniedError) Unwrap() error { return e.Err }

// Config says where to look for stores.
type Config struct {
	// Home is the folder of the user whose browsers are meant. Empty means none.
	Home string
	// JavaHome is the folder of a Java. Empty means that of keytool in PATH.
	JavaHome string
	// UID and GID are who runs certutil, if this process is root on behalf of another; zero means itself.
	UID, GID uint32
	// System is the folder below which the system's store is looked for. Empty means "/".
	System string
}

// Stores returns the stores of this machine.
func Stores(cfg Config) []Store {
	var all []Store
	if s, found := findSystem(cfg.System); found {
		all = append(all, s)
	}
	all = append(all, findNSS(cfg)...)
	if s, found := findJava(cfg.JavaHome); found {
		all = append(all, s)
	}
	return all
}

// commandTimeout is far more than any of the tools takes.
const commandTimeout = 2 * time.Minute

// run returns what a tool wrote. Its error tells that too.
func run(ctx context.Context, prepare func(*exec.Cmd), name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if prepare != nil {
		prepare(cmd)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, bytes.TrimSpace(out))
	}
	return out, nil
}

// denied makes an error that says so of one that means so.
func denied(path string, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return &DeniedError{path, errors.Unwrap(err)}
	}
	return err
}
