package spool

import (
	"errors"
	"os"
	"sync"
)

// File is a temporary file that has no name any more, and whose blocks are on a Budget. It is made at the first
// write. One goroutine may write while others read.
type File struct {
	budget *Budget
	dir    string
	limit  int64 // of what it holds on disk; zero means none

	mu         sync.Mutex // guards all below, except that who writes may look at file
	file       *os.File
	freed, end int64 // the budget has counted what lies between, in steps of fileStep
	solid      bool  // no part of it can be given back
	closed     bool
}

// NewFile returns a file in dir, or where the system keeps temporary files if that is empty, that holds at most limit
// bytes on disk, which must be 64 KiB or more. It costs nothing until it is written to.
func NewFile(dir string, limit int64, budget *Budget) *File {
	if dir == "" {
		dir = os.TempDir()
	}
	return &File{budget: budget, dir: dir, limit: limit}
}

// WriteAt writes all of p. An error is an *Error, ErrLimit or os.ErrClosed. The same may be tried again after ErrLimit
// and after an *Error that is Full.
func (f *File) WriteAt(p []byte, offset int64) error {
	if err := f.reserve(offset + int64(len(p))); err != nil {
		return err
	}
	_, err := f.file.WriteAt(p, offset)
	if err == nil {
		return nil
	}
	if isFull(err) && f.budget != nil {
		f.budget.rest.exhausted()
	}
	return f.failed("write", err)
}

// reserve makes the file, if there is none yet, and takes disk up to end.
func (f *File) reserve(end int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return os.ErrClosed
	}
	if f.file == nil {
		file, err := tempFile(f.dir)
		if err != nil {
			return f.failed("create", err)
		}
		f.file = file
	}
	for f.end < end {
		if f.limit > 0 && f.end-f.freed+fileStep > f.limit {
			return ErrLimit
		}
		if !f.budget.takeDisk(fileStep, f.end-f.freed, f.file) {
			return f.failed("write", ErrSpent)
		}
		f.end += fileStep
	}
	return nil
}

// ReadAt reads what was written.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.file.ReadAt(p, offset)
	if n == 0 && err != nil {
		return 0, f.failed("read", err)
	}
	return n, nil
}

// Held returns how many bytes of its budget's disk the file has.
func (f *File) Held() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end - f.freed
}

// Free gives back what lies before offset, as far as the file system can. It will not be read again.
func (f *File) Free(offset int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := (offset - f.freed) / fileStep * fileStep
	if n < 4*fileStep || f.solid || f.closed {
		return
	}
	if punch(f.file, f.freed, n) != nil {
		f.solid = true
		return
	}
	f.freed += n
	f.budget.giveDisk(n)
}

// Empty gives back all that the file has. The next write goes to offset 0.
func (f *File) Empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	// What cannot be given back now still counts, and may be written over.
	if f.closed || f.file == nil || f.file.Truncate(0) != nil {
		return
	}
	f.budget.giveDisk(f.end - f.freed)
	f.freed, f.end = 0, 0
}

// Close gives up the file. It may be called at any time and again.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.budget.giveDisk(f.end - f.freed)
	return err
}

// failed names the directory, except in the error of a file that somebody closed.
func (f *File) failed(op string, err error) error {
	if errors.Is(err, os.ErrClosed) {
		return os.ErrClosed
	}
	// The name of a file that has none would only mislead.
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &Error{Op: op, Dir: f.dir, Err: err}
}

// tempFile makes a file in dir whose name is gone already: a crash leaves nothing behind.
func tempFile(dir string) (*os.File, error) {
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
