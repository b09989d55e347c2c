package proxy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const keySize = 32

// keptKey returns the key that signs split cookies: the one kept in storage, or a new one that is kept from
// now on, so that users stay on their variant when the gateway starts anew.
func keptKey(storage string) ([]byte, error) {
	path := filepath.Join(storage, "split.key")
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("keep the key that signs split cookies: %w; make storage a folder that can be written, or set split.secret", err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	if err == nil && len(key) != keySize {
		return nil, fmt.Errorf("%s holds %d bytes, want %d; remove it to get a new key", path, len(key), keySize)
	}
	return key, err
}

// makeKey puts a whole key in place, or fails with fs.ErrExist when another gateway was first.
func makeKey(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".split-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	if _, err := file.Write(key); err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}
