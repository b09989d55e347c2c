package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

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
		if got, err := u.Check(t.Context(), c.name, c.password); got != c.want || err != nil {
			t.Errorf("%q, %q = %v, %v; want %v", c.name, c.password, got, err, c.want)
		}
	}
}

func TestHashThatIsNone(t *testing.T) {
	if _, err := NewUsers(map[string]string{"alice": "secret"}); err == nil {
		t.Error("a password in clear is taken for a hash")
	}
}

// A page's requests come together, and each would cost as much as a login is meant to.
func TestPasswordIsComparedOnce(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 10)})
	var group sync.WaitGroup
	var right atomic.Int64
	for range mostWaiting {
		group.Go(func() {
			if ok, err := u.Check(context.Background(), "alice", "secret"); ok && err == nil {
				right.Add(1)
			}
		})
	}
	group.Wait()
	if right.Load() != mostWaiting || len(u.known) != 1 {
		t.Errorf("%d of %d were let in, %d are known", right.Load(), mostWaiting, len(u.known))
	}
	for range cap(u.slots) {
		u.slots <- struct{}{} // now there is no way to compare
	}
	if ok, err := u.Check(t.Context(), "alice", "secret"); !ok || err != nil {
		t.Errorf("%v, %v for a password that is known", ok, err)
	}
}

func TestGuessesWaitAndAreNotUnbounded(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4)})
	for range cap(u.slots) {
		u.slots <- struct{}{} // somebody is comparing
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for i := range mostWaiting {
		go func() {
			_, err := u.Check(ctx, "alice", fmt.Sprint(i))
			ended <- err
		}()
	}
	for u.waiting.Load() < mostWaiting {
		select {
		case err := <-ended:
			t.Fatalf("one did not wait: %v", err)
		default:
		}
	}
	var busy *BusyError
	if _, err := u.Check(ctx, "alice", "one more"); !errors.As(err, &busy) || busy.RetryAfter() <= 0 {
		t.Errorf("one more: %v, want that it is busy", err)
	}
	cancel()
	for range mostWaiting {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

func TestKnownPasswordsAreBounded(t *testing.T) {
	u := usersOf(t, map[string]string{"alice": hash(t, "secret", 4)})
	for i := range 3 * mostKnown {
		u.remember(u.mark("alice", fmt.Sprint(i)))
	}
	if len(u.known) > mostKnown {
		t.Errorf("%d known, want at most %d", len(u.known), mostKnown)
	}
}

func BenchmarkKnownPassword(b *testing.B) {
	u := usersOf(b, map[string]string{"alice": hash(b, "secret", 10)})
	b.ReportAllocs()
	for b.Loop() {
		u.Check(context.Background(), "alice", "secret")
	}
}
