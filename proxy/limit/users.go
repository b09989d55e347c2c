package limit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const (
	// mostKnown is how many passwords are remembered as right.
	mostKnown = 1024
	// mostGuesses is how many different ones may be compared, or wait for it, at once, and mostOfOne how many of them
	// one client may send.
	mostGuesses = 64
	mostOfOne   = 8
)

// Users are names and the bcrypt hashes of their passwords. They may be used concurrently.
type Users struct {
	hashes map[string][]byte
	nobody []byte        // compared with when there is no such name, so that this takes as long
	key    []byte        // of marks
	slots  chan struct{} // one for each comparison at once
	ofOne  Counter       // guesses by client

	mu      sync.Mutex // guards known and guesses
	known   map[mark]struct{}
	guesses map[mark]*guess
}

// mark stands for a name and a password and, without the key, tells nothing about them.
type mark [sha256.Size]byte

// guess is a comparison under way, for which others with the same name and password wait too.
type guess struct {
	done  chan struct{} // closed when what follows is set
	right bool
	err   error
}

// BusyError says that so many passwords are being compared that another one has to wait.
type BusyError struct{}

func (*BusyError) Error() string { return "too many passwords to compare" }

// RetryAfter is after which time another try is worth while.
func (*BusyError) RetryAfter() time.Duration { return time.Second }

// NewUsers takes the hash of each name, of which there is at least one.
func NewUsers(hashes map[string]string) (*Users, error) {
	u := &Users{
		hashes: make(map[string][]byte), key: make([]byte, sha256.Size), known: make(map[mark]struct{}), guesses: make(map[mark]*guess),
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

// Check says whether password is that of name, for a client at addr. A comparison takes tens of milliseconds of CPU
// time, by design, so what was right once is remembered, requests that come together are answered by one comparison,
// only a few are made at once, and a *BusyError says when too many wait.
func (u *Users) Check(ctx context.Context, addr netip.Addr, name, password string) (bool, error) {
	mark := u.mark(name, password)
	for {
		g, mine, err := u.join(mark, addr)
		switch {
		case err != nil:
			return false, err
		case g == nil:
			return true, nil
		case mine:
			g.right, g.err = u.compareInTurn(ctx, name, password)
			u.leave(mark, addr, g)
			return g.right, g.err
		}
		select {
		case <-g.done:
			if !isEnd(g.err) { // else its own client has left before it was made
				return g.right, g.err
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func isEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// join returns the comparison of mark under way, or one to be made by the caller, or nil when it is known as right.
func (u *Users) join(mark mark, addr netip.Addr) (g *guess, mine bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.known[mark]; known {
		return nil, false, nil
	}
	if g := u.guesses[mark]; g != nil {
		return g, false, nil
	}
	if len(u.guesses) >= mostGuesses || !u.ofOne.Take(addr, mostOfOne) {
		return nil, false, &BusyError{}
	}
	g = &guess{done: make(chan struct{})}
	u.guesses[mark] = g
	return g, true, nil
}

func (u *Users) leave(mark mark, addr netip.Addr, g *guess) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.guesses, mark)
	u.ofOne.Give(addr)
	if g.right {
		if len(u.known) >= mostKnown {
			clear(u.known)
		}
		u.known[mark] = struct{}{}
	}
	close(g.done)
}

// compareInTurn waits for its turn and compares.
func (u *Users) compareInTurn(ctx context.Context, name, password string) (bool, error) {
	select {
	case u.slots <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-u.slots }()
	err := u.compare(name, password)
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	return err == nil, err
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

func (u *Users) mark(name, password string) mark {
	mac := hmac.New(sha256.New, u.key)
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(name))))
	mac.Write([]byte(name))
	mac.Write([]byte(password))
	return mark(mac.Sum(nil))
}
