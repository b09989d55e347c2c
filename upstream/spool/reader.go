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

// NewReader returns a reader of the whole stream. Any number may be open at once.
func (s *Spool) NewReader() *Reader { return &Reader{spool: s} }

// Read returns what is there, waits when there is nothing yet, and ends as the stream ended. It is not for
// concurrent use, but Close may come from elsewhere and ends a Read that waits.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, at, err := r.next(p)
	if at.length > 0 {
		n, err = r.spool.file.ReadAt(at.of(p), at.offset)
	}
	r.offset += int64(n)
	return n, err
}

// WriteTo writes the stream to w until it ends.
func (r *Reader) WriteTo(w io.Writer) (total int64, err error) {
	var chunk *[fileChunk]byte
	for {
		p := r.first()
		if p == nil {
			if chunk == nil {
				chunk = chunks.Get().(*[fileChunk]byte)
				defer chunks.Put(chunk)
			}
			n, err := r.Read(chunk[:])
			if err == io.EOF {
				return total, nil
			}
			if err != nil {
				return total, err
			}
			p = chunk[:n]
		}
		n, err := w.Write(p)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// first takes what is left of the first bytes, which stay as they are, so that they need not be copied.
func (r *Reader) first() []byte {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || r.closed || r.offset >= int64(len(s.first)) {
		return nil
	}
	p := s.first[r.offset:]
	r.offset = int64(len(s.first))
	return p
}

// Close ends a Read that waits; later ones return os.ErrClosed. The spool stays as it is.
func (r *Reader) Close() error {
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	r.closed = true
	r.spool.grown.Broadcast()
	return nil
}

// inFile is a part of the file; of no length when there is none.
type inFile struct{ offset, length int64 }

func (f inFile) of(p []byte) []byte { return p[:min(int64(len(p)), f.length)] }

// next waits until there is something to read. It copies what is in memory, as that is somebody else's once the spool is
// closed, or says where it is in the file.
func (r *Reader) next(p []byte) (n int, at inFile, err error) {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && !r.closed && r.offset == s.length && !s.ended {
		s.grown.Wait()
	}
	switch inMemory := int64(s.inMemory); {
	case s.closed || r.closed:
		return 0, at, os.ErrClosed
	case r.offset < inMemory:
		return copy(p, s.memory(int(r.offset))), at, nil
	case r.offset < s.length:
		return 0, inFile{r.offset - inMemory, s.length - r.offset}, nil
	case s.err != nil:
		return 0, at, s.err
	}
	return 0, at, io.EOF
}
