package certs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/certmagic"
)

var errRevoked = errors.New("revoked by its authority")

// storage is where certificates, accounts, challenges and ticket keys are kept: a directory of this machine, or
// a Redis that several gateways share.
type storage struct {
	certmagic.Storage
	local  certmagic.Storage // nil, or a copy on this machine of what is kept elsewhere
	health *health           // nil unless ACME is used
	redis  *redisStorage     // nil for a directory
}

// openStorage returns nil when the configuration names no place.
func openStorage(cfg Config) (*storage, error) {
	if cfg.Storage == "" && cfg.Redis.Address == "" {
		return nil, nil
	}
	s := &storage{}
	if cfg.Storage != "" {
		if err := os.MkdirAll(cfg.Storage, 0o700); err != nil {
			return nil, fmt.Errorf("storage: %w", err)
		}
		s.Storage = &certmagic.FileStorage{Path: cfg.Storage}
	}
	if cfg.Redis.Address != "" {
		redis, err := newRedisStorage(cfg.Redis, cfg.Logger)
		if err != nil {
			return nil, err
		}
		s.Storage, s.redis = redis, redis
		if cfg.Storage != "" {
			// With the copy, a gateway starts and serves while the Redis is away.
			s.local = &certmagic.FileStorage{Path: filepath.Join(cfg.Storage, "copy")}
		}
	}
	if cfg.wrap != nil {
		s.Storage = cfg.wrap(s.Storage)
	}
	return s, nil
}

// Store tells how it went: the library gives a full disk to the log alone.
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	err := s.Storage.Store(ctx, key, value)
	if s.health != nil && ctx.Err() == nil {
		s.health.stored(err)
	}
	return err
}

func (s *storage) close() {
	if s.redis != nil {
		s.redis.close()
	}
}
