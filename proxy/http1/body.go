package http1

import (
	"io"
	"net/http"
	"sync"
)

// drainSize is how much of a body that nobody wanted is read in order to keep the connection.
const drainSize = 256 << 10

// body is what follows the head of a request. A handler may have left a goroutine behind that still reads it, hence
// the lock.
type body struct {
	conn *conn

	mu      sync.Mutex // guards what follows
	left    int64      // of the body; of the chunk under way when there are chunks
	chunked bool
	begun   bool // a chunk has been read, and with it the need of a CRLF behind it
	excess  int64
	expect  bool  // 100 Continue is still to be sent
	closed  bool  // to the handler
	err     error // what every further read returns; io.EOF after the last byte

	saying    sync.Mutex // guards answering; held while 100 Continue is sent
	answering bool
}

func (c *conn) newBody(m *message) *body {
	return &body{conn: c, left: max(m.length, 0), chunked: m.length < 0, expect: m.expect}
}

// Read reads from the client. The end of the body is io.EOF, an end before that io.ErrUnexpectedEOF, and broken chunks
// are a *BodyError.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.read(p)
	if err == io.EOF {
		b.conn.watch.arm()
	}
	return n, err
}

// Close lets go of the body. What is left of it is the connection's concern.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

func (b *body) read(p []byte) (n int, err error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.expect {
		b.expect = false
		if err := b.sendContinue(); err != nil {
			b.err = err
			return 0, err
		}
	}
	if b.chunked {
		n, err = b.readChunks(p)
	} else {
		n, err = b.readLength(p)
	}
	b.err = err
	return n, err
}

func (b *body) readLength(p []byte) (int, error) {
	n, err := b.conn.in.read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// answered is told that the answer begins, before which 100 Continue must be sent or not at all. It says whether the
// connection can be kept behind this body, as far as is known then.
func (b *body) answered() bool {
	b.saying.Lock()
	b.answering = true
	b.saying.Unlock()
	if !b.mu.TryLock() {
		return false // it is being read, for who knows how long
	}
	defer b.mu.Unlock()
	return b.err == io.EOF || b.err == nil && !b.expect && b.left <= drainSize
}

// sendContinue asks the client for the body.
func (b *body) sendContinue() error {
	b.saying.Lock()
	defer b.saying.Unlock()
	if b.answering {
		return nil
	}
	_, err := io.WriteString(b.conn.nc, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// drain reads the rest of the body, if that is not too much, and says whether it came to its end. The handler can read
// no more of it.
func (b *body) drain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.expect || b.left > drainSize {
		return b.err == io.EOF
	}
	buffer := inputs.Get().(*[inputSize]byte)
	defer inputs.Put(buffer)
	for total := 0; b.err == nil && total < drainSize; {
		n, _ := b.read(buffer[:])
		total += n
	}
	return b.err == io.EOF
}
