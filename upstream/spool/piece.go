package spool

import (
	"sync"

	"golang.org/x/sys/unix"
)

// PieceSize is how many bytes of memory are taken of a Budget at once.
const PieceSize = 32 << 10

// Piece is memory of a Budget.
type Piece [PieceSize]byte

const (
	slabPieces = 32 // are asked of the system at once
	warmPieces = 64 // stay there for the next, though nobody has them
)

// Take returns a piece of memory for one who gives it back, or nil when none is left. It holds whatever it held last.
func (b *Budget) Take() *Piece {
	if b == nil {
		return new(Piece)
	}
	if !b.memory.take(PieceSize) {
		return nil
	}
	return b.pieces.take()
}

// Overdraw is Take for one who cannot do without.
func (b *Budget) Overdraw() *Piece {
	b.memory.held.Add(PieceSize)
	return b.pieces.take()
}

// Give takes p back. Nobody may use it any more.
func (b *Budget) Give(p *Piece) {
	if b == nil {
		return
	}
	b.pieces.give(p)
	b.memory.held.Add(-PieceSize)
}

// pieces lie outside of Go's heap, and what nobody has is the system's again, but for a few. In the heap they would
// cost twice as much, since it grows by what is in use before garbage is looked for.
type pieces struct {
	mu         sync.Mutex // guards all below
	warm, cold []*Piece
}

func (ps *pieces) take() *Piece {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	from := &ps.warm
	if len(*from) == 0 {
		from = &ps.cold
	}
	if len(*from) == 0 {
		slab, err := unix.Mmap(-1, 0, slabPieces*PieceSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return new(Piece) // the heap may have some
		}
		for ; len(slab) > 0; slab = slab[PieceSize:] {
			ps.cold = append(ps.cold, (*Piece)(slab))
		}
	}
	last := len(*from) - 1
	p := (*from)[last]
	*from = (*from)[:last]
	return p
}

func (ps *pieces) give(p *Piece) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.warm) < warmPieces {
		ps.warm = append(ps.warm, p)
		return
	}
	// One that is kept all the same is memory that is not lost, only not given back.
	_ = unix.Madvise(p[:], unix.MADV_DONTNEED)
	ps.cold = append(ps.cold, p)
}
