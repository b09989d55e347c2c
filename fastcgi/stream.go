package fastcgi

import (
	"fmt"
	"io"
	"sync"
)

// bufferSize is one read of a connection.
const bufferSize = 16 << 10

var readBuffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// stream splits what it reads into records.
type stream struct {
	src  io.Reader
	buf  *[bufferSize]byte // nil once freed
	r, w int               // what is buffered: buf[r:w]

	typ       byte // of the record that r is in
	left, pad int  // what is still to come of its content, then of its padding

	ended bool // a whole END_REQUEST is buffered or has been read
	tail  bool // something follows it
}

func (s *stream) reset(src io.Reader) {
	*s = stream{src: src, buf: readBuffers.Get().(*[bufferSize]byte)}
}

// free gives the buffer back. Nothing that content returned may be used any longer.
func (s *stream) free() {
	if s.buf != nil {
		readBuffers.Put(s.buf)
		s.buf = nil
	}
}

// next goes to the following record of the request, over what is left of this one, and reads its header.
func (s *stream) next() (header, error) {
	for {
		if err := s.skip(); err != nil {
			return header{}, err
		}
		if err := s.need(headerSize); err != nil {
			return header{}, err
		}
		h := parseHeader(s.buf[s.r:])
		s.r += headerSize
		s.typ, s.left, s.pad = h.typ, h.size, h.padding
		if err := h.check(); err != nil {
			return h, err
		}
		if h.id == requestID {
			return h, nil
		}
	}
}

// check refuses what cannot be part of our answer. Records of id 0 are about the connection and may be skipped.
func (h header) check() error {
	switch {
	case h.version != version1:
		return fmt.Errorf("%w: version %d", ErrProtocol, h.version)
	case h.id != requestID && h.id != 0:
		return fmt.Errorf("%w: for request %d", ErrProtocol, h.id)
	case h.id == 0 || h.typ == typeStdout || h.typ == typeStderr:
		return nil
	case h.typ == typeEnd && h.size >= endSize:
		return nil
	}
	return fmt.Errorf("%w: type %d of %d bytes", ErrProtocol, h.typ, h.size)
}

// skip passes over the rest of the record.
func (s *stream) skip() error {
	for s.left+s.pad > 0 {
		if s.r == s.w {
			if err := s.fill(); err != nil {
				return err
			}
		}
		n := min(s.left+s.pad, s.w-s.r)
		s.r += n
		fromPad := max(0, n-s.left)
		s.left -= n - fromPad
		s.pad -= fromPad
	}
	return nil
}

// content returns what is buffered of the record's content: one byte at least. Only call it when left > 0.
func (s *stream) content() ([]byte, error) {
	if s.r == s.w {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	return s.buf[s.r : s.r+min(s.left, s.w-s.r)], nil
}

// take moves over n bytes of what content returned.
func (s *stream) take(n int) {
	s.r += n
	s.left -= n
}

// direct reads content into p without the buffer, which must be empty.
func (s *stream) direct(p []byte) (int, error) {
	n, err := s.src.Read(p[:min(len(p), s.left)])
	s.left -= n
	if n > 0 {
		return n, nil
	}
	return 0, truncated(err)
}

// ready reports whether STDOUT content can be had without reading from the connection.
func (s *stream) ready() bool {
	if s.left > 0 {
		return s.typ == typeStdout && s.r < s.w
	}
	at := s.r + s.pad
	if at+headerSize >= s.w {
		return false
	}
	h := parseHeader(s.buf[at:])
	return h.version == version1 && h.id == requestID && h.typ == typeStdout && h.size > 0
}

// need buffers n bytes in one piece; n is at most 8.
func (s *stream) need(n int) error {
	for s.w-s.r < n {
		if err := s.fill(); err != nil {
			return err
		}
	}
	return nil
}

// fill reads once. It is only called when fewer than 8 bytes are buffered.
func (s *stream) fill() error {
	s.w = copy(s.buf[:], s.buf[s.r:s.w])
	s.r = 0
	n, err := s.src.Read(s.buf[s.w:])
	s.w += n
	if n == 0 {
		return truncated(err)
	}
	s.scan()
	return nil
}

// scan looks ahead for END_REQUEST among the records that are buffered, so that a worker is let go before the
// reader has come that far.
func (s *stream) scan() {
	for at := s.r + s.left + s.pad; at+headerSize <= s.w; {
		h := parseHeader(s.buf[at:])
		at += headerSize + h.size + h.padding
		if h.version != version1 {
			return
		}
		if h.typ == typeEnd && h.id == requestID {
			s.ended, s.tail = at <= s.w, at < s.w
			return
		}
	}
}
