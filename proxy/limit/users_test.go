package limit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

var here = netip.MustParseAddr("127.0.0.1")

func hash(t testing.TB, password string, cost int) string {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func usersOf(t testing.TB, hashes map[string]string) *Users {
	t.Helper()
	u, err := NewUsers(hashes)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPasswords(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4), "bob": "$2y" + hash(t, "other", 5)[3:]})
	for _, c := range []struct {
		name, password string
		want           bool
	}{
		{"alice", "secret", true}, {"alice", "secret", true}, {"bob", "other", true},
		{"alice", "other", false}, {"bob", "secret", false}, {"carol", "secret", false}, {"carol", "other", false},
		{"", "", false}, {"alice", "", false}, {"Alice", "secret", false}, {"alices", "ecret", false},
	} {
		if got, err := u.Check(t.Context(), here, c.name, c.password); got != c.want || err != nil {
			t.Errorf("%q, %q = %v, %v; want %v", c.name, c.password, got, err, c.want)
		}
	}
}

// Else the names that there are could be found out by the time that an answer takes.
func TestNameThatIsNotThereTakesAsLong(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 7), "bob": hash(t, "secret", 4)})
	shortest := func(name string) time.Duration {
		least := time.Hour
		for i := range 3 {
			begun := time.Now()
			u.Check(t.Context(), here, name, fmt.Sprint("wrong", i))
			least = min(least, time.Since(begun))
		}
		return least
	}
	if there, not := shortest("alice"), shortest("carol"); not < there/4 {
		t.Errorf("%s for a name that is there, %s for one that is not", there, not)
	}
}

func TestHashThatIsNone(t *testing.T) {
	if _, err := NewUsers(map[string]string{"alice": "secret"}); err == nil {
		t.Error("a password in clear is taken for a hash")
	}
}

// A page's requests come together, and each would cost as much as a login is meant to.
func TestPasswordIsComparedOnce(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 6)})
	var group sync.WaitGroup
	var right atomic.Int64
	for range 2 * mostGuesses {
		group.Go(func() {
			if ok, err := u.Check(context.Background(), here, "alice", "secret"); ok && err == nil {
				right.Add(1)
			}
		})
	}
	group.Wait()
	if right.Load() != 2*mostGuesses {
		t.Errorf("%d of %d were let in", right.Load(), 2*mostGuesses)
	}
	u.occupy()
	if ok, err := u.Check(t.Context(), here, "alice", "secret"); !ok || err != nil {
		t.Errorf("%v, %v for a password that is known", ok, err)
	}
}

// occupy leaves no way to compare.
func (u *Users) occupy() {
	for range cap(u.slots) {
		u.slots <- struct{}{}
	}
}

// waiting waits until so many guesses wait.
func (u *Users) waiting(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		u.mu.Lock()
		n := len(u.guesses)
		u.mu.Unlock()
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d guesses wait, want %d", n, want)
		}
	}
}

func TestGuessesAreBounded(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4)})
	u.occupy()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	guess := func(addr netip.Addr, password string) {
		_, err := u.Check(ctx, addr, "alice", password)
		ended <- err
	}
	client := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }
	for i := range mostOfOne {
		go guess(here, fmt.Sprint("a", i))
	}
	u.waiting(t, mostOfOne)
	var busy *BusyError
	if _, err := u.Check(ctx, here, "alice", "one more"); !errors.As(err, &busy) || busy.RetryAfter() <= 0 {
		t.Errorf("one more of a client: %v, want that it is busy", err)
	}
	for i := range mostGuesses - mostOfOne {
		go guess(client(i), fmt.Sprint("b", i))
	}
	u.waiting(t, mostGuesses)
	if _, err := u.Check(ctx, client(99), "alice", "one more"); !errors.As(err, &busy) {
		t.Errorf("one more of all: %v, want that it is busy", err)
	}
	cancel()
	for range mostGuesses {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
	u.waiting(t, 0)
}

// Whoever came first may leave before the comparison is made, and must not take the others with him.
func TestLeavingDoesNotFailOthersWithTheSamePassword(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4)})
	u.occupy()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan bool, 1)
	go func() {
		_, err := u.Check(ctx, here, "alice", "secret")
		first <- err
	}()
	u.waiting(t, 1)
	go func() {
		ok, _ := u.Check(context.Background(), here, "alice", "secret")
		second <- ok
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first ended with %v", err)
	}
	for range cap(u.slots) {
		<-u.slots
	}
	if !<-second {
		t.Error("the second was not let in")
	}
}

func TestKnownPasswordsAreBounded(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4)})
	for i := range 3 * mostKnown {
		mark := u.mark("alice", fmt.Sprint(i))
		g, _, err := u.join(mark, here)
		if err != nil {
			t.Fatal(err)
		}
		g.right = true
		u.leave(mark, here, g)
	}
	if len(u.known) > mostKnown {
		t.Errorf("%d known, want at most %d", len(u.known), mostKnown)
	}
}

func BenchmarkKnownPassword(b *testing.B) {
	u := usersOf(b, map[string]string{"alice": hash(b, "secret", 10)})
	b.ReportAllocs()
	for b.Loop() {
		u.Check(context.Background(), here, "alice", "secret")
	}
}
