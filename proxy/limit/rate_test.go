package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// clock is time that passes when it is told to.
type clock struct{ at time.Duration }

func (c *clock) now() time.Duration { return c.at }

// paced returns a rate of 10 a second and its clock.
func paced(burst int, delay time.Duration) (*Rate, *clock) {
	c := &clock{at: time.Hour}
	return NewRate(RateConfig{Count: 10, Per: time.Second, Burst: burst, Delay: delay, now: c.now}), c
}

func TestRateAllowsABurstAndThenItsPace(t *testing.T) {
	r, clock := paced(3, 0)
	for i := range 3 {
		if wait, ok := r.Take("a"); !ok || wait != 0 {
			t.Errorf("request %d of the burst: %s, %v", i, wait, ok)
		}
	}
	wait, ok := r.Take("a")
	if ok || wait != 100*time.Millisecond {
		t.Fatalf("beyond the burst: %s, %v; want 100ms, refused", wait, ok)
	}
	clock.at += wait
	if _, ok := r.Take("a"); !ok {
		t.Error("refused after the time that was told")
	}
	if _, ok := r.Take("a"); ok {
		t.Error("another one without a pause is allowed")
	}
	clock.at += time.Minute
	for range 3 {
		if _, ok := r.Take("a"); !ok {
			t.Error("no burst after a pause")
		}
	}
}

func TestRateHoldsBackBeforeItRefuses(t *testing.T) {
	r, _ := paced(1, 250*time.Millisecond)
	for i, want := range []time.Duration{0, 100, 200} {
		if wait, ok := r.Take("a"); !ok || wait != want*time.Millisecond {
			t.Errorf("request %d: %s, %v; want %dms", i, wait, ok, want)
		}
	}
	if wait, ok := r.Take("a"); ok || wait != 300*time.Millisecond {
		t.Errorf("beyond the delay: %s, %v; want 300ms, refused", wait, ok)
	}
}

func TestRateCountsEachKeyForItself(t *testing.T) {
	r, _ := paced(1, 0)
	take := func(addr string) bool {
		_, ok := r.TakeAddress(netip.MustParseAddr(addr))
		return ok
	}
	if !take("1.2.3.4") || take("::ffff:1.2.3.4") || !take("1.2.3.5") {
		t.Error("want one of each address, mapped or not")
	}
	if !take("2001:db8::1") || take("2001:db8::2") || !take("2001:db8:0:1::1") {
		t.Error("want one of each /64")
	}
}

// However many addresses there are, memory is bounded, and who is well over his rate is not forgotten for them.
func TestRateIsBoundedInMemory(t *testing.T) {
	r, clock := paced(1000, 0)
	for range 1000 {
		r.Take("busy")
	}
	for i := range 3 * mostKeys / 2 {
		r.Take(fmt.Sprint(i))
	}
	kept := 0
	for i := range r.parts {
		kept += len(r.parts[i].ends)
	}
	if kept > mostKeys {
		t.Errorf("%d keys, want at most %d", kept, mostKeys)
	}
	if _, ok := r.Take("busy"); ok {
		t.Error("the busy one was forgotten")
	}
	clock.at += time.Hour
	for i := range 3 * mostKeys / 2 {
		if _, ok := r.Take(fmt.Sprint("again", i)); !ok {
			t.Fatal("refused for others")
		}
	}
}

func TestRateTakesTheClock(t *testing.T) {
	r := NewRate(RateConfig{Count: 1, Per: time.Hour})
	if _, ok := r.Take("a"); !ok {
		t.Error("the first is refused")
	}
	if wait, ok := r.Take("a"); ok || wait <= 59*time.Minute {
		t.Errorf("the second: %s, %v", wait, ok)
	}
}

func BenchmarkRate(b *testing.B) {
	r := NewRate(RateConfig{Count: 1e6, Per: time.Second, Burst: 1e6})
	addr := netip.MustParseAddr("1.2.3.4")
	b.ReportAllocs()
	for b.Loop() {
		r.TakeAddress(addr)
	}
}
