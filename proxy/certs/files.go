package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
)

// recheckAfter is how long a look at the files is good for: handshakes come by the thousand.
const recheckAfter = time.Second

// files serves one certificate from disk and follows its changes.
type files struct {
	certFile, keyFile string
	logger            *zap.Logger
	now               func() time.Time

	mu      sync.Mutex // guards the rest
	current *tls.Certificate
	seen    [2]os.FileInfo // of the pair that was read last, well or badly
	checked time.Time
}

func openFiles(cfg Config) (*files, error) {
	if cfg.CertFile == "" || cfg.KeyFile == "" {
		return nil, errors.New("tls.cert, tls.key: the issuer files needs both")
	}
	f := &files{certFile: cfg.CertFile, keyFile: cfg.KeyFile, logger: cfg.Logger, now: cfg.now, checked: cfg.now()}
	seen, err := f.stat()
	if err != nil {
		return nil, fmt.Errorf("tls.cert, tls.key: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("tls.cert, tls.key: %w", err)
	}
	f.seen, f.current = seen, &pair
	return f, nil
}

// certificate returns the newest pair that could be read. One that cannot (the chain may be there before
// its key is) is logged once and looked at again when either file changes.
func (f *files) certificate() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if now.Sub(f.checked) < recheckAfter {
		return f.current
	}
	f.checked = now
	// The look comes before the read: a change between the two is then seen again, not missed.
	seen, err := f.stat()
	if err == nil && same(seen, f.seen) {
		return f.current
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(f.certFile, f.keyFile)
	}
	if err == nil {
		f.current = &pair
		f.logger.Info("certificate read anew", zap.String("file", f.certFile), zap.Time("until", pair.Leaf.NotAfter))
	} else if !same(seen, f.seen) {
		f.logger.Error("certificate not read, the one before goes on", zap.String("file", f.certFile), zap.Error(err))
	}
	f.seen = seen
	return f.current
}

// cover reports whether the certificate is valid for host.
func (f *files) cover(host string) bool {
	return f.certificate().Leaf.VerifyHostname(host) == nil
}

// stat follows symbolic links, by which many tools switch from one pair to the next.
func (f *files) stat() (seen [2]os.FileInfo, err error) {
	for i, name := range [2]string{f.certFile, f.keyFile} {
		if seen[i], err = os.Stat(name); err != nil {
			return [2]os.FileInfo{}, err
		}
	}
	return seen, nil
}

// same reports whether a and b saw the same files in the same state; two that saw nothing are the same.
func same(a, b [2]os.FileInfo) bool {
	for i := range a {
		if a[i] == nil || b[i] == nil {
			if a[i] != b[i] {
				return false
			}
			continue
		}
		if !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() {
			return false
		}
	}
	return true
}
