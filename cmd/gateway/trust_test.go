package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gateway/proxy/certs/trust"
)

// shelf is a store of one root.
type shelf struct {
	has    bool
	denies error
}

func (s *shelf) Name() string                                  { return "shelf" }
func (s *shelf) Has(context.Context, trust.Root) (bool, error) { return s.has, nil }

func (s *shelf) Add(context.Context, trust.Root) error    { return s.put(true) }
func (s *shelf) Remove(context.Context, trust.Root) error { return s.put(false) }

func (s *shelf) put(has bool) error {
	if s.denies == nil {
		s.has = has
	}
	return s.denies
}

func TestChangeSaysWhatWasDone(t *testing.T) {
	s := &shelf{}
	root := trust.Root{Certificate: &x509.Certificate{Subject: pkix.Name{CommonName: "root"}}}
	for _, c := range []struct {
		remove bool
		want   string
	}{{true, "root is not there"}, {false, "root added"}, {false, "root is there already"}, {true, "root removed"}} {
		if got, err := change(t.Context(), s, root, c.remove); got != c.want || err != nil || s.has == c.remove {
			t.Errorf("remove %v: %q, %v; want %q", c.remove, got, err, c.want)
		}
	}
}

func TestWhatCouldNotBeDoneHasAWayOut(t *testing.T) {
	root := trust.Root{File: "/s/root.crt"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&trust.DeniedError{Path: "/etc/x", Err: fs.ErrPermission}, "gateway: hint: this store is for root to change; the others are done: sudo gateway trust"},
		{trust.ErrNoCertutil, "gateway: hint: apt install libnss3-tools"},
		{errors.New("broken"), ""},
	} {
		var words bytes.Buffer
		complain(&words, explained(&shelf{}, root, c.err))
		if !strings.HasPrefix(words.String(), "gateway: error: shelf: "+c.err.Error()+"\n"+c.want) {
			t.Errorf("words:\n%s", words.String())
		}
	}
}

func TestRootsAreMadeForWhoAsksFirst(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "gateway.toml")
	text := "storage = \"storage\"\n[[site]]\nhosts = [\"shop.test\"]\nroot = \"public\"\napp = \"o\"\n[upstream.o]\nhttp = [\"127.0.0.1:1\"]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := internalRoots(options{config: file})
	if err != nil || len(first) != 1 || first[0].File != filepath.Join(dir, "storage/internal/root.crt") {
		t.Fatalf("roots = %v, %v", first, err)
	}
	second, err := internalRoots(options{config: file})
	if err != nil || !second[0].Certificate.Equal(first[0].Certificate) {
		t.Errorf("asked again: %v, %v", second, err)
	}
	err = storageHint("/s", &os.PathError{Op: "open", Path: "/s/x", Err: fs.ErrPermission})
	if hint := hintFor(err); !strings.Contains(hint, "only its owner may read /s") {
		t.Errorf("hint = %q", hint)
	}
}
