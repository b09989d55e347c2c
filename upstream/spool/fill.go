package spool

import (
	"io"
	"os"
	"sync"
)

const (
	firstRoom = 4 << 10  // of the memory, when the first byte is expected; on no budget, as most bodies fit
	fileChunk = 32 << 10 // between the file and whoever reads it
	// scratchSize is in what pieces a stream goes to the file while no memory is left: each client needs some.
	scratchSize = 8 << 10
)

var chunks = sync.Pool{New: func() any { return new([fileChunk]byte) }}

// ReadFrom appends everything that r has. It returns how much of it was stored, and r's error as it is,
// ErrLimit when there was more than the limit allows, or an *Error when the temporary file failed.
func (s *Spool) ReadFrom(r io.Reader) (int64, error) {
	kept, err := s.fillMemory(r)
	if err == nil {
		var spilled int64
		spilled, err = s.fillFile(r)
		kept += spilled
	}
	if err == io.EOF {
		err = nil
	}
	return kept, err
}

// fillMemory reads straight into the memory until that is full. The bytes behind its length are the
// writer's alone, so reading needs no lock.
func (s *Spool) fillMemory(r io.Reader) (total int64, err error) {
	for err == nil {
		room := s.makeRoom()
		if room == nil {
			return total, os.ErrClosed
		}
		if len(room) == 0 {
			break
		}
		var n int
		n, err = r.Read(room)
		if limited := s.allowed(n); limited < n {
			n, err = limited, ErrLimit
		}
		if !s.extend(n) {
			return total, os.ErrClosed
		}
		total += int64(n)
	}
	return total, err
}

// makeRoom returns free space behind what is in memory: none when that is full, and nil when the spool is closed. Until
// extend it is the writer's, even when the spool is closed meanwhile.
func (s *Spool) makeRoom() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	room := s.room()
	s.filling = len(room) > 0
	return room
}

func (s *Spool) room() []byte {
	if s.inMemory < cap(s.first) || s.first == nil {
		if s.first == nil {
			s.first = make([]byte, 0, min(firstRoom, int(s.cfg.Memory)))
		}
		return s.first[s.inMemory:cap(s.first)]
	}
	used := s.inMemory - cap(s.first)
	if used == len(s.pieces)*PieceSize && int64(s.inMemory) < s.cfg.Memory {
		if p := s.cfg.Budget.Take(); p != nil {
			s.pieces = append(s.pieces, p)
		} else {
			s.cfg.Memory = int64(s.inMemory) // the rest goes to the file
		}
	}
	if int64(s.inMemory) >= s.cfg.Memory {
		return s.first[:0]
	}
	room := s.pieces[used/PieceSize][used%PieceSize:]
	return room[:min(int64(len(room)), s.cfg.Memory-int64(s.inMemory))]
}

// extend takes n bytes, already in place, into the memory.
func (s *Spool) extend(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filling = false
	if s.closed {
		s.givePieces()
		return false
	}
	s.inMemory += n
	s.first = s.first[:min(s.inMemory, cap(s.first))]
	s.grow(n)
	return true
}

// memory returns what is in memory in one stretch from offset on. The caller holds the lock.
func (s *Spool) memory(offset int) []byte {
	if offset < len(s.first) {
		return s.first[offset:]
	}
	offset -= len(s.first)
	p := s.pieces[offset/PieceSize][offset%PieceSize:]
	return p[:min(len(p), s.inMemory-len(s.first)-offset)]
}

// givePieces is called with the lock held, by the last who may use them.
func (s *Spool) givePieces() {
	for _, p := range s.pieces {
		s.cfg.Budget.Give(p)
	}
	s.pieces = nil
}

// allowed returns how many of n more bytes the limit lets in.
func (s *Spool) allowed(n int) int {
	if s.cfg.Limit == 0 {
		return n
	}
	return int(min(int64(n), s.cfg.Limit-s.Len()))
}

func (s *Spool) fillFile(r io.Reader) (total int64, err error) {
	var chunk []byte
	if p := s.cfg.Budget.Take(); p != nil {
		defer s.cfg.Budget.Give(p)
		chunk = p[:]
	} else {
		chunk = make([]byte, scratchSize)
	}
	for err == nil {
		var n int
		n, err = r.Read(chunk)
		if limited := s.allowed(n); limited < n {
			n, err = limited, ErrLimit
		}
		if n == 0 {
			continue
		}
		stored, failed := s.spill(chunk[:n])
		total += int64(stored)
		if failed != nil {
			return total, failed
		}
	}
	return total, err
}
