package limit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const (
	// mostKnown is how many passwords are remembered as right.
	mostKnown = 1024
	// mostWaiting is how many requests may wait for their passwords to be compared.
	mostWaiting = 64
)

// Users are names and the bcrypt hashes of their passwords. They may be used concurrently.
type Users struct {
	hashes  map[string][]byte
	nobody  []byte        // compared with when there is no such name, so that this takes as long
	key     []byte        // of known
	slots   chan struct{} // one for each comparison at once
	waiting atomic.Int64

	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]struct{}
}

// BusyError says that so many passwords are being compared that another one has to wait.
type BusyError struct{}

func (*BusyError) Error() string { return "too many passwords to compare" }

// RetryAfter is after which time another try is worth while.
func (*BusyError) RetryAfter() time.Duration { return time.Second }

// NewUsers takes the hash of each name, of which there is at least one.
func NewUsers(hashes map[string]string) (*Users, error) {
	u := &Users{
		hashes: make(map[string][]byte), key: make([]byte, sha256.Size), known: make(map[[sha256.Size]byte]struct{}),
		slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
	rand.Read(u.key) // never fails
	most := 0
	for name, hash := range hashes {
		cost, err := bcrypt.Cost([]byte(hash))
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		u.hashes[name] = []byte(hash)
		if cost > most {
			most, u.nobody = cost, []byte(hash)
		}
	}
	return u, nil
}

// Check says whether password is that of name. A comparison takes tens of milliseconds of CPU time, by design, so
// what was right once is remembered, only a few are made at once, and a *BusyError says when too many wait.
func (u *Users) Check(ctx context.Context, name, password string) (bool, error) {
	mark := u.mark(name, password)
	if u.knows(mark) {
		return true, nil
	}
	defer u.waiting.Add(-1)
	if u.waiting.Add(1) > mostWaiting {
		return false, &BusyError{}
	}
	select {
	case u.slots <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-u.slots }()
	if u.knows(mark) { // a page's requests come together; the first has done it for the others
		return true, nil
	}
	if err := u.compare(name, password); err != nil {
		if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			err = nil
		}
		return false, err
	}
	u.remember(mark)
	return true, nil
}

func (u *Users) compare(name, password string) error {
	hash, there := u.hashes[name]
	if !there {
		hash = u.nobody
	}
	err := bcrypt.CompareHashAndPassword(hash, []byte(password))
	if err == nil && !there {
		err = bcrypt.ErrMismatchedHashAndPassword
	}
	return err
}

// mark stands for a name and a password and, without the key, tells nothing about them.
func (u *Users) mark(name, password string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, u.key)
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(name))))
	mac.Write([]byte(name))
	mac.Write([]byte(password))
	return [sha256.Size]byte(mac.Sum(nil))
}

func (u *Users) knows(mark [sha256.Size]byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, known := u.known[mark]
	return known
}

func (u *Users) remember(mark [sha256.Size]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.known) >= mostKnown {
		clear(u.known)
	}
	u.known[mark] = struct{}{}
}
