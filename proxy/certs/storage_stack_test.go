//go:build stack

package certs

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap/zaptest"

	"gateway/testdata/stack"
)

const redisPassword = "open sesame"

func newRedis(t *testing.T, server *stack.RedisServer) *redisStorage {
	t.Helper()
	s, err := newRedisStorage(Redis{Network: "unix", Address: server.Socket, Password: redisPassword, Prefix: "shop"}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// TestStorageContract asks the same of a directory, which certmagic itself comes with, and of Redis.
func TestStorageContract(t *testing.T) {
	storages := map[string]certmagic.Storage{
		"directory": &certmagic.FileStorage{Path: t.TempDir()},
		"redis":     newRedis(t, stack.Redis(t, redisPassword)),
	}
	for name, s := range storages {
		t.Run(name, func(t *testing.T) { storeAndFind(t, s) })
	}
}

func storeAndFind(t *testing.T, s certmagic.Storage) {
	ctx := t.Context()
	for key, value := range map[string]string{
		"a/b/c": "one", "a/b/d": "\x00\xff binary \r\n", "a/e": "", "ab/c": "another", "top": "level",
	} {
		if err := s.Store(ctx, key, []byte("old")); err != nil {
			t.Fatal(err)
		}
		if err := s.Store(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Load(ctx, key); err != nil || string(got) != value {
			t.Errorf("load %s = %q, %v; want %q", key, got, err, value)
		}
	}
	lists := []struct {
		dir       string
		recursive bool
		want      string
	}{
		{"a", false, "a/b a/e"},
		{"a", true, "a/b a/b/c a/b/d a/e"},
		{"a/b", true, "a/b/c a/b/d"},
		{"a/b", false, "a/b/c a/b/d"},
		{"a/e", true, ""},
		{"", false, "a ab top"},
		{"", true, "a a/b a/b/c a/b/d a/e ab ab/c top"},
	}
	for _, c := range lists {
		got, err := s.List(ctx, c.dir, c.recursive)
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("list %q, %v = %q, %v; want %s", c.dir, c.recursive, got, err, c.want)
		}
	}
	file, err := s.Stat(ctx, "a/b/c")
	if err != nil || !file.IsTerminal || file.Size != 3 || file.Key != "a/b/c" || time.Since(file.Modified) > time.Minute {
		t.Errorf("stat of a file = %+v, %v", file, err)
	}
	if dir, err := s.Stat(ctx, "a"); err != nil || dir.IsTerminal {
		t.Errorf("stat of a folder = %+v, %v", dir, err)
	}
	nothing(t, s, "a/x", "x", "a/b/c/d", "b")
	if !s.Exists(ctx, "a") || !s.Exists(ctx, "a/e") {
		t.Error("a folder or an empty file does not exist")
	}

	for _, key := range []string{"a/b", "a/b", "top", "never"} {
		if err := s.Delete(ctx, key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	nothing(t, s, "a/b", "a/b/c", "a/b/d", "top")
	if got, err := s.Load(ctx, "ab/c"); err != nil || string(got) != "another" {
		t.Errorf("a neighbour with the same beginning = %q, %v", got, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.List(ended, "a", true); !errors.Is(err, context.Canceled) {
		t.Errorf("list after the end: err = %v", err)
	}
}

// nothing checks that keys are not there, in all the ways of asking.
func nothing(t *testing.T, s certmagic.Storage, keys ...string) {
	t.Helper()
	for _, key := range keys {
		_, load := s.Load(t.Context(), key)
		_, stat := s.Stat(t.Context(), key)
		_, list := s.List(t.Context(), key, true)
		for _, err := range []error{load, stat, list} {
			// Below a file, a file system has another word for it.
			if !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "not a directory") {
				t.Errorf("%s: err = %v, want fs.ErrNotExist", key, err)
			}
		}
	}
}

func TestRedisLockExcludes(t *testing.T) {
	server := stack.Redis(t, redisPassword)
	a, b := newRedis(t, server), newRedis(t, server)
	a.lease, b.lease, b.poll = time.Second, time.Second, 10*time.Millisecond
	ctx := t.Context()
	if err := a.Lock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if err := b.Lock(ctx, "y"); err != nil {
		t.Fatal(err) // another name is another lock
	}
	var unlocked atomic.Bool
	locked := make(chan error)
	go func() {
		err := b.Lock(ctx, "x")
		if !unlocked.Load() {
			err = errors.New("locked twice")
		}
		locked <- err
	}()
	// It is renewed: three leases later it is still held.
	select {
	case err := <-locked:
		t.Fatal(err)
	case <-time.After(3 * a.lease):
	}
	unlocked.Store(true)
	if err := a.Unlock(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	if err := a.Unlock(ctx, "x"); err == nil {
		t.Error("a lock of another was given back")
	}
	if got, _ := a.TryLock(ctx, "x"); got {
		t.Error("the lock of another was taken")
	}
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := a.Lock(soon, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want the context's", err)
	}
}

// TestRedisLockOfACrashedGatewayEnds stands for a process that ends without a word.
func TestRedisLockOfACrashedGatewayEnds(t *testing.T) {
	server := stack.Redis(t, redisPassword)
	a, b := newRedis(t, server), newRedis(t, server)
	a.lease, b.poll = 300*time.Millisecond, 10*time.Millisecond
	if err := a.Lock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	a.held["x"].stop() // nobody renews it any more
	if err := b.Lock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if err := a.Unlock(t.Context(), "x"); !errors.Is(err, errLockLost) {
		t.Errorf("err = %v, want errLockLost", err)
	}
	if taken, _ := a.TryLock(t.Context(), "x"); taken {
		t.Error("the late unlock gave back the lock of another")
	}
}

func TestRedisLocksAreGivenBackAtTheEnd(t *testing.T) {
	server := stack.Redis(t, redisPassword)
	a, b := newRedis(t, server), newRedis(t, server)
	if err := a.Lock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	a.close()
	if taken, err := b.TryLock(t.Context(), "x"); !taken {
		t.Errorf("not given back: %v", err)
	}
	if err := a.Unlock(t.Context(), "x"); err != nil {
		t.Errorf("unlock after the end: %v", err)
	}
}

func TestRedisThatIsAwayIsAnErrorThatSaysSo(t *testing.T) {
	server := stack.Redis(t, redisPassword)
	s := newRedis(t, server)
	server.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Store(ctx, "a", nil); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "redis store a") {
		t.Errorf("store: err = %v", err)
	}
	if _, err := s.Load(ctx, "a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("load: err = %v; it must not look as if nothing were there", err)
	}
	if err := s.Lock(ctx, "a"); err == nil {
		t.Error("locked")
	}
	wrong, err := newRedisStorage(Redis{Network: "unix", Address: server.Socket, TLS: true, RootFile: "/nowhere"}, s.logger)
	if err == nil || !strings.HasPrefix(err.Error(), "tls.redis.ca_root:") {
		t.Errorf("storage = %v, err = %v", wrong, err)
	}
}

func TestRedisOverTLS(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "redis.crt"), filepath.Join(dir, "redis.key")
	template := testTemplate("redis")
	template.IPAddresses, template.IsCA, template.BasicConstraintsValid = []net.IP{net.IPv4(127, 0, 0, 1)}, true, true
	key := testKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: selfSigned(t, template, key).Certificate[0]}), time.Now())
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), time.Now())
	cfg := Redis{Address: stack.RedisTLS(t, redisPassword, certFile, keyFile), Password: redisPassword, TLS: true, RootFile: certFile}
	for _, c := range []struct {
		name   string
		change func(*Redis)
		ok     bool
	}{
		{"right", func(*Redis) {}, true},
		{"other roots", func(r *Redis) { r.RootFile = "" }, false},
		{"no password", func(r *Redis) { r.Password = "" }, false},
		{"no TLS", func(r *Redis) { r.TLS = false }, false},
	} {
		one := cfg
		c.change(&one)
		s, err := newRedisStorage(one, zaptest.NewLogger(t))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := s.Store(ctx, "a", []byte("b")); (err == nil) != c.ok {
			t.Errorf("%s: err = %v", c.name, err)
		}
		cancel()
		s.close()
	}
}

// TestGatewayStartsWithoutItsRedis serves the copies that it has.
func TestGatewayStartsWithoutItsRedis(t *testing.T) {
	server := stack.Redis(t, redisPassword)
	f, cfg := newFront(t, nil, func(cfg *Config, _ *front) {
		cfg.Redis = Redis{Network: "unix", Address: server.Socket, Password: redisPassword}
	})
	leaf := f.start(t)
	server.Stop()
	next := newManager(t, cfg)
	at := serve(t, next)
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if served, err := f.leaf(t, at, f.host); err != nil || !served.Equal(leaf) {
		t.Errorf("served = %v, %v; want the same certificate", served, err)
	}
}
