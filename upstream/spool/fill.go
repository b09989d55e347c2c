package spool

import (
	"io"
	"os"
	"sync"
)

const (
	firstRoom = 4 << 10  // of the memory, when the first byte is expected; on no budget, as most bodies fit
	fileChunk = 32 << 10 // between a stream and the file
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

// makeRoom returns free space behind the memory: none when that is full, and nil when the spool is closed.
func (s *Spool) makeRoom() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	used, size := len(s.memory), cap(s.memory)
	if most := int(s.cfg.Memory); used == size && used < most {
		larger := min(max(2*size, firstRoom), most)
		if more := larger - max(size, firstRoom); more > 0 {
			if !s.cfg.Budget.takeMemory(more) {
				s.cfg.Memory = int64(used) // the rest goes to the file
				return s.memory[used:used]
			}
			s.taken += more
		}
		grown := make([]byte, used, larger)
		copy(grown, s.memory)
		s.memory = grown
	}
	return s.memory[used:cap(s.memory)]
}

// extend takes n bytes, already in place, into the memory.
func (s *Spool) extend(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.memory = s.memory[:len(s.memory)+n]
	s.grow(n)
	return true
}

// allowed returns how many of n more bytes the limit lets in.
func (s *Spool) allowed(n int) int {
	if s.cfg.Limit == 0 {
		return n
	}
	return int(min(int64(n), s.cfg.Limit-s.Len()))
}

func (s *Spool) fillFile(r io.Reader) (total int64, err error) {
	chunk := chunks.Get().(*[fileChunk]byte)
	defer chunks.Put(chunk)
	for err == nil {
		var n int
		n, err = r.Read(chunk[:])
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
