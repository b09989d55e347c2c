// Package spool holds a byte stream of unknown length: its beginning in memory, the rest in a temporary
// file that has no name any more, so that nothing is left behind however the process ends.
package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// ErrLimit says that the stream is longer than Config.Limit.
var ErrLimit = errors.New("spool: stream is longer than its limit")

// Error is a failure of the temporary file. It is never the fault of whoever wrote the stream.
type Error struct {
	Op  string // what was being done: create, write, read
	Dir string // the directory of the temporary file
	Err error
}

// Error names the directory, since a full disk is mended there.
func (e *Error) Error() string { return fmt.Sprintf("spool: %s in %s: %v", e.Op, e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Config says how much a Spool holds, and where. The zero value is 64 KiB in memory, the rest in the
// system's directory for temporary files, and no limit.
type Config struct {
	// Memory is how many bytes stay in memory. Zero means 64 KiB.
	Memory int64
	// Limit is how long the stream may be, in bytes. Zero means any length. Beyond it Write and ReadFrom
	// return ErrLimit.
	Limit int64
	// Dir is where the temporary file is made. Empty means os.TempDir().
	Dir string
}

const defaultMemory = 64 << 10

// Spool is a stream that is written once, by one goroutine, and read any number of times, by readers that
// may begin before it ends.
type Spool struct {
	cfg Config

	mu     sync.Mutex // guards all below
	grown  sync.Cond  // the stream grew or ended, or a reader or the spool was closed
	memory []byte     // the first bytes, at most cfg.Memory; only ever appended to
	file   *os.File   // the rest, from offset 0; nil while all fits in memory
	length int64
	ended  bool
	err    error // how the stream ended, for readers; nil means io.EOF
	closed bool
}

// New returns an empty Spool. Close frees what it holds.
func New(cfg Config) *Spool {
	if cfg.Memory == 0 {
		cfg.Memory = defaultMemory
	}
	if cfg.Dir == "" {
		cfg.Dir = os.TempDir()
	}
	s := &Spool{cfg: cfg}
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
func (s *Spool) keep(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, os.ErrClosed
	}
	n := int(min(int64(len(p)), s.cfg.Memory-int64(len(s.memory))))
	s.memory = append(s.memory, p[:n]...)
	s.grow(n)
	return n, nil
}

// spill stores p at the end of the file. The write is outside the lock: readers go no further than length.
func (s *Spool) spill(p []byte) (int, error) {
	if s.file == nil {
		file, err := s.create()
		if err != nil {
			return 0, err
		}
		if !s.adopt(file) {
			return 0, os.ErrClosed
		}
	}
	n, err := s.file.WriteAt(p, s.length-int64(len(s.memory)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grow(n)
	if err != nil {
		return n, s.failed("write", err)
	}
	return n, nil
}

func (s *Spool) create() (*os.File, error) {
	file, err := TempFile(s.cfg.Dir)
	if err != nil {
		return nil, s.failed("create", err)
	}
	return file, nil
}

// TempFile makes a file in dir, or where the system keeps temporary files if that is empty, whose name is gone
// already: a crash leaves nothing behind.
func TempFile(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "gateway-spool-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// adopt makes file the spool's, unless the spool was closed meanwhile.
func (s *Spool) adopt(file *os.File) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		file.Close()
		return false
	}
	s.file = file
	return true
}

// grow counts n more bytes and wakes the readers. The caller holds the lock.
func (s *Spool) grow(n int) {
	if n > 0 {
		s.length += int64(n)
		s.grown.Broadcast()
	}
}

// failed names the directory, except in the error of a spool that somebody closed.
func (s *Spool) failed(op string, err error) error {
	if errors.Is(err, os.ErrClosed) {
		return os.ErrClosed
	}
	// The name of a file that has none would only mislead.
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &Error{Op: op, Dir: s.cfg.Dir, Err: err}
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
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

var _ io.ReaderFrom = (*Spool)(nil)
