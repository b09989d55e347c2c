package certs

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	ticketsAt = "tickets/keys.json" // in the storage, and the lock's name
	// A key makes tickets for half a day and is known for a day and a half: whoever steals the storage reads no more
	// than that of what was recorded.
	ticketRotation = 12 * time.Hour
	ticketsKept    = 3
	// ticketPoll is how soon a gateway hears of a key that another made. A key makes no tickets before twice that,
	// so that whoever gets them finds a gateway that knows it.
	ticketPoll = time.Minute
)

// ticketKey is a secret that session tickets are sealed with.
type ticketKey struct {
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`
}

// tickets keeps the keys of session tickets in the storage: sessions outlive a reload and a restart, and go on
// with another gateway of the same storage.
type tickets struct {
	storage  *storage
	policies *policies
	logger   *zap.Logger
	now      func() time.Time
	kept     []ticketKey // newest first; only the one goroutine looks at it

	cancel  context.CancelFunc
	working sync.WaitGroup
}

func newTickets(kept *storage, p *policies, cfg Config) *tickets {
	return &tickets{storage: kept, policies: p, logger: cfg.Logger, now: cfg.now, cancel: func() {}}
}

// start puts the keys in force before it returns, if the storage has any or takes some within a moment, and looks
// after them until ctx ends or close is called. Without the storage crypto/tls has keys of its own.
func (t *tickets) start(ctx context.Context) {
	ctx, t.cancel = context.WithCancel(ctx)
	soon, cancel := context.WithTimeout(ctx, preloadWait)
	t.refresh(soon)
	cancel()
	t.working.Go(func() {
		tick := time.NewTicker(ticketPoll)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				t.refresh(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// refresh reads the keys, makes one when the newest is old, and puts them in force.
func (t *tickets) refresh(ctx context.Context) {
	keys, err := t.load(ctx)
	if err == nil && t.due(keys) {
		keys, err = t.rotate(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			t.logger.Error("keys of session tickets not read, those before go on", zap.Error(err))
		}
		keys = t.kept
	}
	if len(keys) > 0 {
		t.kept = keys
		t.apply()
	}
}

func (t *tickets) due(keys []ticketKey) bool {
	return len(keys) == 0 || t.now().Sub(keys[0].Made) >= ticketRotation
}

func (t *tickets) load(ctx context.Context) (keys []ticketKey, err error) {
	text, err := t.storage.Load(ctx, ticketsAt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("%s: %w", ticketsAt, err)
	}
	for _, key := range keys {
		if len(key.Secret) != sha256.Size {
			return nil, fmt.Errorf("%s: a key of %d bytes", ticketsAt, len(key.Secret))
		}
	}
	return keys, nil
}

// rotate adds a key unless another gateway just has.
func (t *tickets) rotate(ctx context.Context) ([]ticketKey, error) {
	if err := t.storage.Lock(ctx, "tickets"); err != nil {
		return nil, err
	}
	defer func() {
		// It ends by itself if it cannot be given back.
		_ = t.storage.Unlock(context.WithoutCancel(ctx), "tickets")
	}()
	keys, err := t.load(ctx)
	if err != nil || !t.due(keys) {
		return keys, err
	}
	fresh := ticketKey{Secret: make([]byte, sha256.Size), Made: t.now().UTC()}
	rand.Read(fresh.Secret)
	keys = append([]ticketKey{fresh}, keys[:min(len(keys), ticketsKept-1)]...)
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return keys, t.storage.Store(ctx, ticketsAt, text)
}

// apply puts the keys in force, the one that makes tickets first. Each policy has keys of its own, derived from
// them: a ticket got without a client certificate opens nothing that asks for one.
func (t *tickets) apply() {
	ordered := t.kept
	if len(ordered) > 1 && t.now().Sub(ordered[0].Made) < 2*ticketPoll {
		ordered = append([]ticketKey{ordered[1], ordered[0]}, ordered[2:]...)
	}
	for _, p := range t.policies.all {
		keys := make([][32]byte, len(ordered))
		for i, key := range ordered {
			mac := hmac.New(sha256.New, key.Secret)
			mac.Write([]byte("tls session ticket " + p.name))
			copy(keys[i][:], mac.Sum(nil))
		}
		p.config.SetSessionTicketKeys(keys)
	}
}

func (t *tickets) close() {
	t.cancel()
	t.working.Wait()
}
