package certs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
)

const (
	lockLease = 30 * time.Second // after a crash, others wait so long
	lockPoll  = 250 * time.Millisecond
)

// errLockLost is the error of an unlock that came after the lease had ended: the Redis was away for that long.
var errLockLost = errors.New("the lock was lost before it was given back")

// heldLock is a lock of ours. Its token is in the Redis for as long as it is: whoever renews or releases it shows
// the token, so that nobody touches a lock that another has taken meanwhile.
type heldLock struct {
	token string
	stop  context.CancelFunc
	done  chan struct{} // closed when nothing renews it any more
}

var (
	renewLock = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)
	releaseLock = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)
)

func (s *redisStorage) lockKey(name string) string { return s.key("lock:" + name) }

// Lock implements certmagic.Locker.
func (s *redisStorage) Lock(ctx context.Context, name string) error {
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	for {
		if locked, err := s.TryLock(ctx, name); locked || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TryLock implements certmagic.TryLocker. The lock is renewed until Unlock, and ends by itself if this process does.
func (s *redisStorage) TryLock(ctx context.Context, name string) (bool, error) {
	lock := &heldLock{token: rand.Text(), done: make(chan struct{})}
	err := s.client.SetArgs(ctx, s.lockKey(name), lock.token, redis.SetArgs{Mode: "NX", TTL: s.lease}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, s.failed("lock", name, err)
	}
	var renewing context.Context
	renewing, lock.stop = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.held[name] = lock
	s.mu.Unlock()
	s.renewal.Go(func() {
		defer close(lock.done)
		s.renew(renewing, name, lock.token)
	})
	return true, nil
}

// renew prolongs the lease three times in its length. A Redis that does not answer is asked again.
func (s *redisStorage) renew(ctx context.Context, name, token string) {
	tick := time.NewTicker(s.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		left, err := renewLock.Run(ctx, s.client, []string{s.lockKey(name)}, token, s.lease.Milliseconds()).Int()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.logger.Warn("lock not renewed", zap.String("lock", name), zap.Error(err))
		case left == 0:
			s.logger.Warn("lock lost; another gateway may do the same work", zap.String("lock", name))
			return
		}
	}
}

// Unlock implements certmagic.Locker.
func (s *redisStorage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	lock := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	switch {
	case lock == nil && s.ctx.Err() != nil:
		return nil // close was faster
	case lock == nil:
		return fmt.Errorf("redis unlock %s: not locked", name)
	}
	lock.stop()
	<-lock.done
	released, err := releaseLock.Run(ctx, s.client, []string{s.lockKey(name)}, lock.token).Int()
	if err == nil && released == 0 {
		err = errLockLost
	}
	return s.failed("unlock", name, err)
}
