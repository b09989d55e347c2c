package proxy

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
)

func testBacklog(dir string, limit int64) *backlog {
	b := new(backlog)
	b.init(dir, limit)
	return b
}

// drain takes everything until the end, and returns it.
func drain(t *testing.T, b *backlog) []byte {
	t.Helper()
	var all []byte
	for {
		p, end, err := b.take()
		if err != nil {
			t.Fatal(err)
		}
		if end {
			return all
		}
		if p == nil {
			b.wait()
		}
		all = append(all, p...)
	}
}

func TestBacklogKeepsOrderAcrossMemoryAndDisk(t *testing.T) {
	b := testBacklog(t.TempDir(), 1<<30)
	defer b.close()
	random := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 4<<20)
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	go func() {
		defer b.finish()
		for rest := want; len(rest) > 0; {
			n := min(1+random.IntN(burstSize), len(rest))
			if err := b.put(rest[:n:n]); err != nil {
				t.Error(err)
				return
			}
			rest = rest[n:]
		}
	}()
	if got := drain(t, b); !bytes.Equal(got, want) {
		t.Errorf("%d bytes came out, not the %d that went in", len(got), len(want))
	}
}

func TestBacklogSpillsWhatMemoryDoesNotHold(t *testing.T) {
	dir := t.TempDir()
	b := testBacklog(dir, 1<<30)
	defer b.close()
	for range 64 {
		if err := b.put(make([]byte, burstSize)); err != nil {
			t.Fatal(err)
		}
	}
	if b.inMemory > backlogMemory {
		t.Errorf("%d bytes in memory, want at most %d", b.inMemory, backlogMemory)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("the temp file has a name: %v", left)
	}
	b.finish()
	if got := len(drain(t, b)); got != 64*burstSize {
		t.Errorf("%d bytes came out, want %d", got, 64*burstSize)
	}
}

func TestBacklogAtItsLimitWaitsForTheClient(t *testing.T) {
	b := testBacklog(t.TempDir(), 1<<20)
	defer b.close()
	put := make(chan int)
	go func() {
		defer close(put)
		for n := range 64 { // 2 MiB; no more than 1.25 fit
			if b.put(make([]byte, burstSize)) != nil {
				return
			}
			put <- n
		}
	}()
	last := 0
	for n := range put {
		b.mu.Lock()
		onDisk := b.to - b.from
		b.mu.Unlock()
		if last = n; onDisk > 1<<20 {
			t.Fatalf("%d bytes on disk, want at most %d", onDisk, 1<<20)
		}
		if n == 39 { // full: 8 in memory, 32 on disk
			break
		}
	}
	if _, _, err := b.take(); err != nil { // from memory: makes no room on disk
		t.Fatal(err)
	}
	b.abandon()
	for n := range put {
		last = n
	}
	if last > 40 {
		t.Errorf("put went on to %d after the client left", last)
	}
}

func TestBacklogSaysWhyTheDiskRefuses(t *testing.T) {
	b := testBacklog("/nonexistent", 1<<30)
	var err error
	for range 9 {
		if err = b.put(make([]byte, burstSize)); err != nil {
			break
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v, want that the folder does not exist", err)
	}
}
