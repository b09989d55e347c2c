// Package spool holds a byte stream of unknown length: its beginning in memory, the rest in a temporary
// file that has no name any more, so that nothing is left behind however the process ends.
package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// ErrLimit says that the stream is longer than Config.Limit.
var ErrLimit = errors.New("spool: stream is longer than its limit")

// Error is a failure of the temporary file. It is never the fault of whoever wrote the stream.
type Error struct {
	Op  string // what was being done: create, write, read
	Dir string // the directory of the temporary file
	Err error
}

// again is when what found no room may be tried again.
const again = 10 * time.Second

// Error names the directory, since a full disk is mended there.
func (e *Error) Error() string { return fmt.Sprintf("spool: %s in %s: %v", e.Op, e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Full reports whether there was no room, which passes when others give back theirs.
func (e *Error) Full() bool { return isFull(e.Err) }

// RetryAfter returns when to try again after an error that is Full. Otherwise it is zero.
func (e *Error) RetryAfter() time.Duration {
	if e.Full() {
		return again
	}
	return 0
}

// Config says how much a Spool holds, and where. The zero value is 64 KiB in memory, the rest in the
// system's directory for temporary files, and no limit.
type Config struct {
	// Memory is how many bytes stay in memory, if Budget has so many. Zero means 64 KiB.
	Memory int64
	// Limit is how long the stream may be, in bytes. Zero means any length. Beyond it Write and ReadFrom
	// return ErrLimit.
	Limit int64
	// Dir is where the temporary file is made. Empty means os.TempDir().
	Dir string
	// Budget is what the memory beyond the first 4 KiB and the file are taken of. Nil means no bounds. When it is
	// spent, Write and ReadFrom return an *Error that is Full.
	Budget *Budget
}

const defaultMemory = 64 << 10

// Spool is a stream that is written once, by one goroutine, and read any number of times, by readers that
// may begin before it ends.
type Spool struct {
	cfg  Config
	file File // what is not in memory, from offset 0

	spilled int64 // length of the file; the writer's alone

	mu       sync.Mutex // guards all below
	grown    sync.Cond  // the stream grew or ended, or a reader or the spool was closed
	first    []byte     // the first bytes, at most firstRoom; only ever appended to
	pieces   []*Piece   // those after them, each full but the last; the budget's
	inMemory int        // bytes in both, at most cfg.Memory
	filling  bool       // the writer is at work on what makeRoom returned
	length   int64
	ended    bool
	err      error // how the stream ended, for readers; nil means io.EOF
	closed   bool
}

// New returns an empty Spool. Close frees what it holds.
func New(cfg Config) *Spool {
	if cfg.Memory == 0 {
		cfg.Memory = defaultMemory
	}
	if cfg.Dir == "" {
		cfg.Dir = os.TempDir()
	}
	s := &Spool{cfg: cfg, file: File{dir: cfg.Dir, budget: cfg.Budget}}
	s.grown.L = &s.mu
	return s
}

// Len returns how many bytes have been written so far.
func (s *Spool) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.length
}

// Write appends p whole. When that would pass the limit it stores nothing and returns ErrLimit. A failure
// of the temporary file is an *Error.
func (s *Spool) Write(p []byte) (int, error) {
	if s.cfg.Limit > 0 && s.Len()+int64(len(p)) > s.cfg.Limit {
		return 0, ErrLimit
	}
	n, err := s.keep(p)
	if err != nil || n == len(p) {
		return n, err
	}
	m, err := s.spill(p[n:])
	return n + m, err
}

// keep stores as much of p in memory as may be there.
func (s *Spool) keep(p []byte) (kept int, err error) {
	for kept < len(p) {
		room := s.makeRoom()
		if room == nil {
			return kept, os.ErrClosed
		}
		if len(room) == 0 {
			break
		}
		n := copy(room, p[kept:])
		if !s.extend(n) {
			return kept, os.ErrClosed
		}
		kept += n
	}
	return kept, nil
}

// spill stores p at the end of the file. The write is outside the lock: readers go no further than length.
func (s *Spool) spill(p []byte) (int, error) {
	if err := s.file.WriteAt(p, s.spilled); err != nil {
		var failed *Error
		if errors.As(err, &failed) && failed.Full() {
			s.cfg.Budget.Refuse(err)
		}
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, os.ErrClosed
	}
	s.spilled += int64(len(p))
	s.grow(len(p))
	return len(p), nil
}

// grow counts n more bytes and wakes the readers. The caller holds the lock.
func (s *Spool) grow(n int) {
	if n > 0 {
		s.length += int64(n)
		s.grown.Broadcast()
	}
}

// CloseWrite ends the stream. Readers get err after the last byte; nil means io.EOF.
func (s *Spool) CloseWrite(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
		s.grown.Broadcast()
	}
}

// Close gives up the stream and its file, at any time and from anywhere. Readers and the writer get
// os.ErrClosed from then on.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.grown.Broadcast()
	if !s.filling {
		s.givePieces()
	}
	return s.file.Close()
}

var _ io.ReaderFrom = (*Spool)(nil)
