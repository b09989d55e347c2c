package certs

import (
	"sync"
	"time"
)

// bucket limits a rate: a token is taken for each event, and tokens come back with time.
type bucket struct {
	rate, most float64 // tokens a second, and at most so many
	now        func() time.Time

	mu     sync.Mutex // guards the rest
	tokens float64
	at     time.Time
}

func newBucket(rate, most float64, now func() time.Time) *bucket {
	return &bucket{rate: rate, most: most, now: now, tokens: most, at: now()}
}

// take reports whether there was a token.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.tokens = min(b.most, b.tokens+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
