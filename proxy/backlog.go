package proxy

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gateway/upstream/spool"
)

const (
	// backlogMemory is how many bytes of an answer wait in memory for a slow client; more goes to a temp file.
	backlogMemory = 256 << 10
	// scratchSize is in what pieces a file is read while no memory is left: each connection needs some.
	scratchSize = 8 << 10
	// tryAgain is how long a backend waits for disk before it is asked for once more: what others give back, nobody tells.
	tryAgain = 100 * time.Millisecond
)

// errAbandoned is what the backend's side of a backlog gets once the client's side has given up.
var errAbandoned = errors.New("the client stopped reading")

// errSpooled is a temp file that cannot be read, which is nobody's fault but ours.
var errSpooled = errors.New("read the spooled answer")

// storage is where answers wait for slow clients.
type storage struct {
	budget *spool.Budget // of all answers and bodies
	dir    string        // of temp files; "" means the system's
	limit  int64         // bytes on disk for one answer
}

// backlog holds what the backend has sent and the client has not yet taken: first in memory, beyond
// backlogMemory, or as soon as the budget has no memory left, in a temp file. One goroutine puts, another takes.
//
// Order is kept by one rule: while the file holds anything, new bytes go to the file.
type backlog struct {
	storage
	room, more chan struct{} // something was taken or abandoned; something was put or ended

	refused bool         // the backend had to wait for disk; the putter's alone
	taken   *spool.Piece // behind what take returned last, if that is counted; the taker's alone
	scratch []byte       // the same if it is not

	mu       sync.Mutex // guards all below
	queue    []piece
	file     *spool.File
	from, to int64 // what of the file is still to be taken
	ended    bool
	gone     bool
}

// piece is a part of an answer in memory.
type piece struct {
	*spool.Piece
	length int
}

// open makes the backlog ready, before which it costs nothing.
func (b *backlog) open() {
	b.room, b.more = make(chan struct{}, 1), make(chan struct{}, 1)
}

// signal wakes the one who waits, now or the next time.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put adds a copy of p. It waits while neither memory nor disk has room, and fails once the client's side is gone.
func (b *backlog) put(p []byte) error {
	for len(p) > 0 {
		n, err := b.store(p)
		if err != nil {
			return err
		}
		if n == 0 {
			b.await()
			continue
		}
		p = p[n:]
		signal(b.more)
	}
	return nil
}

// await returns when the client has taken something, or there may be disk again.
func (b *backlog) await() {
	timer := time.NewTimer(tryAgain)
	defer timer.Stop()
	select {
	case <-b.room:
	case <-timer.C:
	}
}

// store adds a first part of p, or nothing.
func (b *backlog) store(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return 0, errAbandoned
	}
	if b.from == b.to {
		if n := b.keep(p, b.budget.Take); n > 0 {
			return n, nil
		}
	}
	err := b.spill(p)
	switch {
	case err == nil:
		return len(p), nil
	case len(b.queue) == 0 && b.from == b.to:
		// With nothing to write nobody would ever take anything.
		return b.keep(p, b.budget.Overdraw), nil
	case err != spool.ErrLimit && !b.refused:
		b.refused = true
		b.budget.Refuse(err)
	}
	return 0, nil
}

// keep adds to the last piece, or to a new one if take has one.
func (b *backlog) keep(p []byte, take func() *spool.Piece) int {
	last := len(b.queue) - 1
	if last < 0 || b.queue[last].length == spool.PieceSize {
		if len(b.queue) == backlogMemory/spool.PieceSize {
			return 0
		}
		fresh := take()
		if fresh == nil {
			return 0
		}
		b.queue = append(b.queue, piece{Piece: fresh})
		last++
	}
	to := &b.queue[last]
	n := copy(to.Piece[to.length:], p)
	to.length += n
	return n
}

// spill appends p to the file. The lock is let go for the write itself: only put writes, and take never reads past what
// was published. A disk that refuses, for whatever reason, does not break the answer off: its backend has to wait.
func (b *backlog) spill(p []byte) error {
	if b.file == nil {
		b.file = spool.NewFile(b.dir, b.limit, b.budget)
	}
	if b.from == b.to && b.to > 0 {
		b.from, b.to = 0, 0
		b.file.Empty()
	}
	at := b.to
	b.mu.Unlock()
	err := b.file.WriteAt(p, at)
	b.mu.Lock()
	if err == nil {
		b.to = at + int64(len(p))
	}
	return err
}

// take returns the next bytes, valid until the next take. It returns nil, false, nil when there is nothing
// yet, and nil, true, nil at the end.
func (b *backlog) take() (p []byte, end bool, err error) {
	b.drop()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.queue) > 0:
		b.taken, p = b.queue[0].Piece, b.queue[0].Piece[:b.queue[0].length]
		b.queue = append(b.queue[:0], b.queue[1:]...)
	case b.from < b.to:
		if p, err = b.read(); err != nil {
			return nil, false, fmt.Errorf("%w: %w", errSpooled, err)
		}
	default:
		return nil, b.ended, nil
	}
	signal(b.room)
	return p, false, nil
}

// read returns the next bytes of the file. The lock is let go meanwhile.
func (b *backlog) read() ([]byte, error) {
	at, p := b.from, b.buffer()
	p = p[:min(int64(len(p)), b.to-at)]
	b.mu.Unlock()
	_, err := b.file.ReadAt(p, at)
	if err == nil {
		b.file.Free(at + int64(len(p)))
	}
	b.mu.Lock()
	if err != nil {
		return nil, err
	}
	b.from = at + int64(len(p))
	return p, nil
}

// buffer returns what a piece of the file is read into.
func (b *backlog) buffer() []byte {
	if b.taken = b.budget.Take(); b.taken != nil {
		return b.taken[:]
	}
	if b.scratch == nil {
		b.scratch = make([]byte, scratchSize)
	}
	return b.scratch
}

// drop gives back what was taken last.
func (b *backlog) drop() {
	if b.taken != nil {
		b.budget.Give(b.taken)
		b.taken = nil
	}
}

// wait returns when there may be something to take.
func (b *backlog) wait() {
	for b.isIdle() {
		<-b.more
	}
}

func (b *backlog) isIdle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0 && b.from == b.to && !b.ended
}

// finish says that nothing more will be put.
func (b *backlog) finish() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	signal(b.more)
}

// abandon makes every later put fail: the client is gone.
func (b *backlog) abandon() {
	b.mu.Lock()
	b.gone = true
	b.mu.Unlock()
	signal(b.room)
}

// close gives back all that the backlog holds. Neither side may use it any more.
func (b *backlog) close() {
	b.drop()
	for _, one := range b.queue {
		b.budget.Give(one.Piece)
	}
	b.queue = nil
	if b.file != nil {
		b.file.Close()
	}
}
