package proxy

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gateway/upstream/spool"
)

// testStorage has memory for all.
func testStorage(dir string, limit int64) storage {
	return storage{budget: spool.NewBudget(1<<30, 4<<30, nil), dir: dir, limit: limit}
}

func testBacklog(t *testing.T, storage storage) *backlog {
	b := &backlog{storage: storage}
	b.open()
	t.Cleanup(func() {
		b.close()
		if u := storage.budget.Usage(); u.Memory != 0 || u.Disk != 0 {
			t.Errorf("%d bytes of memory and %d of disk are held after the end", u.Memory, u.Disk)
		}
	})
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

func TestBacklogSpillsWhatMemoryDoesNotHold(t *testing.T) {
	dir := t.TempDir()
	b := testBacklog(t, testStorage(dir, 1<<30))
	for range 64 {
		if err := b.put(make([]byte, burstSize)); err != nil {
			t.Fatal(err)
		}
	}
	if held := b.budget.Usage().Memory; held != backlogMemory {
		t.Errorf("%d bytes in memory, want %d", held, backlogMemory)
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
	b := testBacklog(t, testStorage(t.TempDir(), 1<<20))
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
		onDisk := b.budget.Usage().Disk
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

// random returns n bytes of which no two stretches are alike.
func random(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(random.Uint32())
	}
	return all
}

// pass puts want into b in pieces of all lengths while it is drained, and compares.
func pass(t *testing.T, b *backlog, want []byte) {
	t.Helper()
	go func() {
		defer b.finish()
		lengths := rand.New(rand.NewPCG(3, 4))
		for rest := want; len(rest) > 0; {
			n := min(1+lengths.IntN(burstSize), len(rest))
			if err := b.put(rest[:n]); err != nil {
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

func TestBacklogKeepsOrderAcrossMemoryAndDisk(t *testing.T) {
	pass(t, testBacklog(t, testStorage(t.TempDir(), 1<<30)), random(4<<20))
}

func TestBacklogWithoutMemoryGoesToDisk(t *testing.T) {
	s := storage{budget: spool.NewBudget(0, 1<<30, nil), dir: t.TempDir(), limit: 1 << 30}
	b := testBacklog(t, s)
	if err := b.put(make([]byte, burstSize)); err != nil {
		t.Fatal(err)
	}
	if u := s.budget.Usage(); u.Memory != 0 || u.Disk == 0 {
		t.Errorf("%d bytes of memory and %d of disk are held, want disk alone", u.Memory, u.Disk)
	}
	takeAll(t, b, burstSize)
	pass(t, b, random(1<<20))
}

// takeAll takes n bytes.
func takeAll(t *testing.T, b *backlog, n int) {
	t.Helper()
	for n > 0 {
		p, _, err := b.take()
		if err != nil || len(p) == 0 {
			t.Fatalf("%d bytes are missing, %v", n, err)
		}
		n -= len(p)
	}
}

// A small answer in many flushes must not cost a multiple of itself.
func TestBacklogPacksSmallPieces(t *testing.T) {
	b := testBacklog(t, testStorage(t.TempDir(), 1<<30))
	for range burstSize {
		if err := b.put([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if held := b.budget.Usage().Memory; held != burstSize {
		t.Errorf("%d bytes are held for %d", held, burstSize)
	}
}

// With nothing left at all the backend has to wait for the client, and the answer passes all the same. The same goes
// for a disk that refuses.
func TestBacklogWithoutRoomHoldsTheBackendBack(t *testing.T) {
	var said error
	say := func(err error) { said = err }
	for name, s := range map[string]storage{
		"no budget": {budget: spool.NewBudget(0, 0, say), dir: t.TempDir(), limit: 1 << 30},
		"no folder": {budget: spool.NewBudget(0, 1<<30, say), dir: "/nonexistent", limit: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			said = nil
			b := testBacklog(t, s)
			second := make(chan error)
			if err := b.put(make([]byte, burstSize)); err != nil {
				t.Fatal(err)
			}
			go func() { second <- b.put([]byte("second")) }()
			select {
			case err := <-second:
				t.Fatalf("put = %v, though there is no room", err)
			case <-time.After(2 * tryAgain):
			}
			takeAll(t, b, burstSize)
			if err := <-second; err != nil {
				t.Error(err)
			}
			takeAll(t, b, len("second"))
			if s.budget.Usage().Refused != 1 || said == nil {
				t.Errorf("refused %d times, said %v; want once", s.budget.Usage().Refused, said)
			}
			pass(t, b, random(1<<20))
		})
	}
}

func TestBacklogFindsRoomThatOthersGiveBack(t *testing.T) {
	budget := spool.NewBudget(spool.PieceSize, 0, nil)
	b := testBacklog(t, storage{budget: budget, dir: t.TempDir(), limit: 1 << 30})
	other := budget.Take()
	if err := b.put(make([]byte, burstSize)); err != nil {
		t.Fatal(err)
	}
	put := make(chan error)
	go func() { put <- b.put(make([]byte, burstSize)) }()
	budget.SetLimits(4*spool.PieceSize, 0)
	if err := <-put; err != nil { // though nobody took anything
		t.Error(err)
	}
	budget.Give(other)
}

// An endless answer to a client that keeps up, a little behind, must not leave an endless file.
func TestBacklogGivesBackDiskWhileItIsRead(t *testing.T) {
	s := storage{budget: spool.NewBudget(0, 1<<30, nil), dir: t.TempDir(), limit: 4 << 20}
	b := testBacklog(t, s)
	piece := make([]byte, burstSize)
	for range 2 << 20 / burstSize {
		if err := b.put(piece); err != nil {
			t.Fatal(err)
		}
	}
	for range 32 << 20 / burstSize {
		if err := b.put(piece); err != nil {
			t.Fatal(err)
		}
		takeAll(t, b, burstSize)
		if disk := s.budget.Usage().Disk; disk > 3<<20 {
			t.Fatalf("%d bytes are held on disk, of which 2 MiB wait", disk)
		}
	}
}

// BenchmarkBacklog is what an answer costs that outgrows the first burst, to a client that keeps up.
func BenchmarkBacklog(b *testing.B) {
	for name, memory := range map[string]int64{"memory": 1 << 30, "disk": 0} {
		b.Run(name, func(b *testing.B) {
			s := storage{budget: spool.NewBudget(memory, 1<<30, nil), dir: b.TempDir(), limit: 1 << 30}
			piece := make([]byte, burstSize)
			b.SetBytes(burstSize)
			b.ReportAllocs()
			l := backlog{storage: s}
			l.open()
			defer l.close()
			for b.Loop() {
				if err := l.put(piece); err != nil {
					b.Fatal(err)
				}
				for n := 0; n < burstSize; {
					p, _, err := l.take()
					if err != nil {
						b.Fatal(err)
					}
					n += len(p)
				}
			}
		})
	}
}
