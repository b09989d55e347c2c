package trust

import (
	"context"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// system is the store that OpenSSL, GnuTLS, Go, curl and PHP read.
type system struct {
	dir     string   // of the certificates that were added
	suffix  string   // of their files
	command []string // makes the store anew from them
}

// layouts are where the distributions have it: Fedora and RHEL, Debian and Ubuntu and Alpine, SUSE, Arch.
var layouts = []system{
	{"etc/pki/ca-trust/source/anchors", ".pem", []string{"update-ca-trust", "extract"}},
	{"usr/local/share/ca-certificates", ".crt", []string{"update-ca-certificates"}},
	{"usr/share/pki/trust/anchors", ".pem", []string{"update-ca-certificates"}},
	{"etc/ca-certificates/trust-source/anchors", ".crt", []string{"trust", "extract-compat"}},
}

func findSystem(base string) (Store, bool) {
	if base == "" {
		base = "/"
	}
	for _, layout := range layouts {
		layout.dir = filepath.Join(base, layout.dir)
		if info, err := os.Stat(layout.dir); err == nil && info.IsDir() {
			return &layout, true
		}
	}
	return nil, false
}

func (s *system) Name() string { return "system " + s.dir }

func (s *system) file(root Root) string { return filepath.Join(s.dir, root.alias()+s.suffix) }

func (s *system) Has(_ context.Context, root Root) (bool, error) {
	_, err := os.Stat(s.file(root))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, denied(s.dir, err)
}

// Add puts the certificate among those that were added and makes the store anew. If that fails, it is taken out.
func (s *system) Add(ctx context.Context, root Root) error {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate.Raw})
	if err := os.WriteFile(s.file(root), text, 0o644); err != nil {
		return denied(s.dir, err)
	}
	if err := s.update(ctx); err != nil {
		return errors.Join(err, os.Remove(s.file(root)))
	}
	return nil
}

func (s *system) Remove(ctx context.Context, root Root) error {
	if err := os.Remove(s.file(root)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return denied(s.dir, err)
	}
	if s.command[0] == "update-ca-certificates" {
		return s.update(ctx, "--fresh") // without it, a link to what was removed stays
	}
	return s.update(ctx)
}

func (s *system) update(ctx context.Context, more ...string) error {
	_, err := run(ctx, nil, s.command[0], append(slices.Clone(s.command[1:]), more...)...)
	return err
}
