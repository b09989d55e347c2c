package spool

import (
	"io"
	"os"
)

// Reader reads a Spool from its beginning. It waits for what is not yet written.
type Reader struct {
	spool  *Spool
	offset int64
	closed bool // guarded by spool.mu
}

// stretch is a piece of the stream: bytes in memory, or length bytes of a file from offset on.
type stretch struct {
	memory         []byte
	file           *File
	offset, length int64
}

// NewReader returns a reader of the whole stream. Any number may be open at once.
func (s *Spool) NewReader() *Reader { return &Reader{spool: s} }

// Read returns what is there, waits when there is nothing yet, and ends as the stream ended. It is not for
// concurrent use, but Close may come from elsewhere and ends a Read that waits.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	next, err := r.next()
	if err != nil {
		return 0, err
	}
	n := copy(p, next.memory)
	if next.file != nil {
		if n, err = r.readFile(next, p); err != nil {
			return 0, err
		}
	}
	r.offset += int64(n)
	return n, nil
}

// WriteTo writes the stream to w until it ends. What is in memory is not copied on the way.
func (r *Reader) WriteTo(w io.Writer) (total int64, err error) {
	var chunk *[fileChunk]byte
	for {
		next, err := r.next()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		piece := next.memory
		if next.file != nil {
			if chunk == nil {
				chunk = chunks.Get().(*[fileChunk]byte)
				defer chunks.Put(chunk)
			}
			n, err := r.readFile(next, chunk[:])
			if err != nil {
				return total, err
			}
			piece = chunk[:n]
		}
		n, err := w.Write(piece)
		r.offset += int64(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// Close ends a Read that waits; later ones return os.ErrClosed. The spool stays as it is.
func (r *Reader) Close() error {
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	r.closed = true
	r.spool.grown.Broadcast()
	return nil
}

// next waits until there is something to read, and returns it.
func (r *Reader) next() (stretch, error) {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && !r.closed && r.offset == s.length && !s.ended {
		s.grown.Wait()
	}
	switch inMemory := int64(len(s.memory)); {
	case s.closed || r.closed:
		return stretch{}, os.ErrClosed
	case r.offset < inMemory:
		return stretch{memory: s.memory[r.offset:]}, nil
	case r.offset < s.length:
		return stretch{file: &s.file, offset: r.offset - inMemory, length: s.length - r.offset}, nil
	case s.err != nil:
		return stretch{}, s.err
	}
	return stretch{}, io.EOF
}

func (r *Reader) readFile(from stretch, p []byte) (int, error) {
	return from.file.ReadAt(p[:min(int64(len(p)), from.length)], from.offset)
}
