package proxy

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"gateway/upstream/spool"
)

// backlogMemory is how many bytes of an answer wait in memory for a slow client; more goes to a temp file.
const backlogMemory = 256 << 10

// errAbandoned is what the backend's side of a backlog gets once the client's side has given up.
var errAbandoned = errors.New("the client stopped reading")

// backlog holds what the backend has sent and the client has not yet taken: first in memory, beyond
// backlogMemory in a temp file that is already unlinked. One goroutine puts, another takes.
//
// Order is kept by one rule: while the file holds anything, new bytes go to the file.
type backlog struct {
	dir   string // of the temp file; "" means the system's
	limit int64  // bytes the file may hold; beyond it put waits for the client

	mu       sync.Mutex // guards all below
	moved    sync.Cond  // something was put, taken, ended or abandoned
	chunks   [][]byte
	scratch  []byte // what take returns of the file
	inMemory int
	file     *os.File
	from, to int64 // what of the file is still to be taken
	ended    bool
	gone     bool
}

func (b *backlog) init(dir string, limit int64) {
	b.dir, b.limit, b.moved.L = dir, limit, &b.mu
}

// put adds p, which the backlog owns from then on. It waits only when the file has reached its limit,
// and fails once the client's side is gone or the disk refuses.
func (b *backlog) put(p []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.gone && b.to-b.from > 0 && b.to-b.from+int64(len(p)) > b.limit {
		b.moved.Wait()
	}
	if b.gone {
		return errAbandoned
	}
	defer b.moved.Signal()
	if b.from == b.to && b.inMemory+len(p) <= backlogMemory {
		b.chunks = append(b.chunks, p)
		b.inMemory += len(p)
		return nil
	}
	return b.spill(p)
}

// spill appends p to the file. The lock is let go for the write itself: only put writes, and take
// never reads past what was published.
func (b *backlog) spill(p []byte) error {
	if b.file == nil {
		file, err := spool.TempFile(b.dir)
		if err != nil {
			return fmt.Errorf("spool the answer: %w", err)
		}
		b.file = file
	}
	if b.from == b.to && b.to > 0 {
		b.from, b.to = 0, 0
		// Gives the disk its blocks back; a failure only means that they are given back later.
		_ = b.file.Truncate(0)
	}
	at := b.to
	b.mu.Unlock()
	_, err := b.file.WriteAt(p, at)
	b.mu.Lock()
	if err != nil {
		return fmt.Errorf("spool the answer: %w", err)
	}
	b.to = at + int64(len(p))
	return nil
}

// take returns the next bytes, valid until the next take. It returns nil, false, nil when there is nothing
// yet, and nil, true, nil at the end.
func (b *backlog) take() (p []byte, end bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.chunks) > 0:
		p = b.chunks[0]
		b.chunks[0] = nil
		b.chunks = b.chunks[1:]
		b.inMemory -= len(p)
	case b.from < b.to:
		if b.scratch == nil {
			b.scratch = make([]byte, burstSize)
		}
		p = b.scratch[:min(burstSize, b.to-b.from)]
		at := b.from
		b.mu.Unlock()
		_, err = b.file.ReadAt(p, at)
		b.mu.Lock()
		if err != nil {
			return nil, false, fmt.Errorf("read the spooled answer: %w", err)
		}
		b.from += int64(len(p))
	default:
		return nil, b.ended, nil
	}
	b.moved.Signal()
	return p, false, nil
}

// wait returns when there may be something to take.
func (b *backlog) wait() {
	b.mu.Lock()
	for len(b.chunks) == 0 && b.from == b.to && !b.ended {
		b.moved.Wait()
	}
	b.mu.Unlock()
}

// finish says that nothing more will be put.
func (b *backlog) finish() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.moved.Signal()
}

// abandon makes every later put fail: the client is gone.
func (b *backlog) abandon() {
	b.mu.Lock()
	b.gone = true
	b.mu.Unlock()
	b.moved.Signal()
}

// close frees the file. Neither side may use the backlog any more.
func (b *backlog) close() {
	if b.file != nil {
		b.file.Close()
	}
}
