package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.uber.org/zap"
)

// Redis is where several gateways keep what they share.
type Redis struct {
	// Network is "tcp" (zero) or "unix", and Address what is dialled. No address means no Redis.
	Network, Address   string
	Username, Password string
	Database           int
	// Prefix begins every key. Empty means "gateway".
	Prefix string
	// TLS speaks TLS to it; RootFile is a PEM file with the roots to trust, and empty means the system's.
	TLS      bool
	RootFile string
}

// closeWait bounds how long giving up locks may take.
const closeWait = time.Second

// redisStorage keeps files as certmagic asks for. There are three keys, so that each step is atomic and all of them
// lie on one node of a cluster: a hash with the values, one with the times of their last change in milliseconds,
// and a sorted set of the names, by which those below a folder are found.
type redisStorage struct {
	client *redis.Client
	prefix string
	logger *zap.Logger
	lease  time.Duration
	poll   time.Duration

	ctx     context.Context // of what renews locks; ends with close
	cancel  context.CancelFunc
	renewal sync.WaitGroup
	mu      sync.Mutex // guards held
	held    map[string]*heldLock
}

func newRedisStorage(cfg Redis, logger *zap.Logger) (*redisStorage, error) {
	options := &redis.Options{
		Network: cfg.Network, Addr: cfg.Address, Username: cfg.Username, Password: cfg.Password, DB: cfg.Database,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if cfg.TLS {
		roots, err := loadRoots(cfg.RootFile)
		if err != nil {
			return nil, fmt.Errorf("tls.redis.ca_root: %w", err)
		}
		host, _, _ := net.SplitHostPort(cfg.Address)
		options.TLSConfig = &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}
	}
	prefix := cfg.Prefix
	if prefix == "" {
		prefix = "gateway"
	}
	s := &redisStorage{
		client: redis.NewClient(options), prefix: prefix, logger: logger,
		lease: lockLease, poll: lockPoll, held: make(map[string]*heldLock),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// key names one of the storage's keys. The braces keep all of them on one node of a cluster.
func (s *redisStorage) key(kind string) string { return "{" + s.prefix + "}:" + kind }

func (s *redisStorage) values() string { return s.key("values") }
func (s *redisStorage) times() string  { return s.key("times") }
func (s *redisStorage) names() string  { return s.key("names") }

// Store implements certmagic.Storage.
func (s *redisStorage) Store(ctx context.Context, key string, value []byte) error {
	_, err := s.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(ctx, s.values(), key, value)
		pipe.HSet(ctx, s.times(), key, time.Now().UnixMilli())
		pipe.ZAdd(ctx, s.names(), redis.Z{Member: key})
		return nil
	})
	return s.failed("store", key, err)
}

// Load implements certmagic.Storage.
func (s *redisStorage) Load(ctx context.Context, key string) ([]byte, error) {
	value, err := s.client.HGet(ctx, s.values(), key).Bytes()
	return value, s.failed("load", key, err)
}

// failed makes an error of the library one that says what was done, and that certmagic understands.
func (s *redisStorage) failed(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.Nil):
		err = fs.ErrNotExist
	case errors.Is(err, fs.ErrNotExist):
		// The socket is not there. It must not look as if the key were not.
		return fmt.Errorf("redis %s %s: %v", op, key, err)
	}
	return fmt.Errorf("redis %s %s: %w", op, key, err)
}

// deleteBelow removes a name and all that are below it. In order of bytes, those are between NAME/ and NAME0.
var deleteBelow = redis.NewScript(`
local names = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1] .. '/', '(' .. ARGV[1] .. '0')
names[#names + 1] = ARGV[1]
for _, name in ipairs(names) do
	redis.call('ZREM', KEYS[1], name)
	redis.call('HDEL', KEYS[2], name)
	redis.call('HDEL', KEYS[3], name)
end
return #names`)

// Delete implements certmagic.Storage.
func (s *redisStorage) Delete(ctx context.Context, key string) error {
	err := deleteBelow.Run(ctx, s.client, []string{s.names(), s.values(), s.times()}, key).Err()
	return s.failed("delete", key, err)
}

// below returns the names of the files in a folder and its folders, at most so many; zero means all.
func (s *redisStorage) below(ctx context.Context, dir string, most int64) ([]string, error) {
	span := &redis.ZRangeBy{Min: "[" + dir + "/", Max: "(" + dir + "0", Count: most}
	if dir == "" {
		span.Min, span.Max = "-", "+"
	}
	return s.client.ZRangeByLex(ctx, s.names(), span).Result()
}

// Exists implements certmagic.Storage.
func (s *redisStorage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// List implements certmagic.Storage. As in a file system, folders are listed too.
func (s *redisStorage) List(ctx context.Context, dir string, recursive bool) ([]string, error) {
	files, err := s.below(ctx, dir, 0)
	if err != nil {
		return nil, s.failed("list", dir, err)
	}
	if len(files) == 0 {
		if _, err := s.Stat(ctx, dir); err != nil {
			return nil, err
		}
		return nil, nil // a file
	}
	var found []string
	for _, file := range files {
		parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"), "/")
		if !recursive {
			parts = parts[:1]
		}
		at := dir
		for _, part := range parts {
			at = strings.TrimPrefix(at+"/"+part, "/")
			found = append(found, at)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Stat implements certmagic.Storage.
func (s *redisStorage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	pipe := s.client.Pipeline()
	changed, value := pipe.HGet(ctx, s.times(), key), pipe.HGet(ctx, s.values(), key)
	if _, err := pipe.Exec(ctx); err == nil {
		millis, err := strconv.ParseInt(changed.Val(), 10, 64)
		return certmagic.KeyInfo{
			Key: key, Modified: time.UnixMilli(millis), Size: int64(len(value.Val())), IsTerminal: true,
		}, s.failed("stat", key, err)
	} else if !errors.Is(err, redis.Nil) {
		return certmagic.KeyInfo{}, s.failed("stat", key, err)
	}
	files, err := s.below(ctx, key, 1)
	if err == nil && len(files) == 0 {
		err = redis.Nil
	}
	return certmagic.KeyInfo{Key: key}, s.failed("stat", key, err)
}

// close gives up all locks and disconnects. A lock that cannot be given up ends by itself.
func (s *redisStorage) close() {
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.held))
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, closeWait)
	defer cancel()
	for _, name := range names {
		if err := s.Unlock(ctx, name); err != nil {
			s.logger.Warn("lock not given back", zap.String("lock", name), zap.Error(err))
		}
	}
	s.cancel()
	s.renewal.Wait()
	// The connections are closed, or broken already.
	_ = s.client.Close()
}
