package spool

import (
	"errors"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrSpent says that a Budget has no disk left for whoever asked, or the file system hardly any.
var ErrSpent = errors.New("no room left for what clients have not sent or taken in full")

// fileStep is in what steps a file takes of a Budget's disk, and gives back.
const fileStep = 64 << 10

// warnEvery is how seldom a Budget says again that the disk is spent.
const warnEvery = time.Minute

// Budget bounds what all that share it hold together: Spools, Files, and who takes memory of it in Pieces. What finds
// no memory goes to disk; what finds no disk is refused, and has to wait or to be turned away.
//
// For Spools and Files a nil *Budget has no bounds. The limits may change at any time: what is held stays held.
type Budget struct {
	memory, disk pot
	pieces       pieces
	rest         rest
	refused      atomic.Int64
	warned       atomic.Int64 // when, in Unix nanoseconds
	spent        func(error)
}

// pot is one thing that there is so much of.
type pot struct{ held, limit atomic.Int64 }

func (p *pot) take(n int64) bool {
	if p.held.Add(n) <= p.limit.Load() {
		return true
	}
	p.held.Add(-n)
	return false
}

// takeShare is take for one who has some already. He gets no more than he leaves for all others together: whoever
// comes next finds room, however many hold on to theirs.
func (p *pot) takeShare(n, has int64) bool {
	if held := p.held.Add(n); has+n <= p.limit.Load()-held {
		return true
	}
	p.held.Add(-n)
	return false
}

// NewBudget returns a Budget of so many bytes of memory and of disk. Unless it is nil, spent is told why the disk was
// refused, once a minute at most.
func NewBudget(memory, disk int64, spent func(error)) *Budget {
	b := &Budget{spent: spent}
	b.SetLimits(memory, disk)
	return b
}

// SetLimits changes how many bytes there are of memory and of disk.
func (b *Budget) SetLimits(memory, disk int64) {
	b.memory.limit.Store(memory)
	b.disk.limit.Store(disk)
}

// Usage is what a Budget's users hold at one moment, in bytes, and how often they were refused.
type Usage struct {
	Memory, Disk           int64
	MemoryLimit, DiskLimit int64
	Refused                int64 // answers held back and bodies turned away since the start
}

// Usage returns what is held now. Memory may be above its limit by what could not wait.
func (b *Budget) Usage() Usage {
	return Usage{
		Memory: b.memory.held.Load(), MemoryLimit: b.memory.limit.Load(),
		Disk: b.disk.held.Load(), DiskLimit: b.disk.limit.Load(),
		Refused: b.refused.Load(),
	}
}

// takeDisk takes n more bytes for a file that has some already.
func (b *Budget) takeDisk(n, has int64, file *os.File) bool {
	if b == nil {
		return true
	}
	if !b.disk.takeShare(n, has) {
		return false
	}
	if !b.rest.take(n, file) {
		b.disk.held.Add(-n)
		return false
	}
	return true
}

func (b *Budget) giveDisk(n int64) {
	if b != nil {
		b.disk.held.Add(-n)
		b.rest.give(n)
	}
}

// Refuse counts one whose bytes found no room on disk because of err, and says so once in a while.
func (b *Budget) Refuse(err error) {
	if b == nil {
		return
	}
	b.refused.Add(1)
	now, last := time.Now().UnixNano(), b.warned.Load()
	if b.spent != nil && now-last >= int64(warnEvery) && b.warned.CompareAndSwap(last, now) {
		b.spent(err)
	}
}

// isFull reports whether err says that there is no room, now.
func isFull(err error) bool {
	return errors.Is(err, ErrSpent) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// rest is what the file system can still give without running full: what it had at the last look less what was taken
// since.
type rest struct{ left, looked atomic.Int64 }

// lookEvery is how old the last look may be.
const lookEvery = time.Second

// reserve is what is left to all other programs: a twentieth of a file system, but no more than this.
const reserve = 1 << 30

func (r *rest) take(n int64, file *os.File) bool {
	now, looked := time.Now().UnixNano(), r.looked.Load()
	if now-looked >= int64(lookEvery) && r.looked.CompareAndSwap(looked, now) {
		r.left.Store(freeBytes(file))
	}
	if r.left.Add(-n) >= 0 {
		return true
	}
	r.left.Add(n)
	return false
}

func (r *rest) give(n int64) { r.left.Add(n) }

// exhausted makes all others wait for the next look.
func (r *rest) exhausted() {
	r.left.Store(0)
	r.looked.Store(time.Now().UnixNano())
}

// beyondReserve returns how many of the available bytes may be taken of a file system with so many in total.
func beyondReserve(available, total int64) int64 {
	return available - min(total/20, reserve)
}

// unknownFree is for file systems that cannot be asked.
const unknownFree = math.MaxInt64 / 2
