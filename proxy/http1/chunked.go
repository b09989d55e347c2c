package http1

import (
	"bytes"
	"io"
)

const (
	// chunkLine is how long the line before a chunk may be, extensions and CRLF included.
	chunkLine = 256
	// chunkExcess is how many bytes of such lines a body may have beyond one for each byte of its data: who needs more
	// sends chunks to make work.
	chunkExcess = 16 << 10
)

// readChunks reads what the chunks hold (RFC 9112, 7.1).
func (b *body) readChunks(p []byte) (n int, err error) {
	for b.left == 0 {
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	n, err = b.conn.in.read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.excess = max(b.excess-int64(n), 0)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// nextChunk reads up to the data of the next chunk, or behind the trailers when there is none.
func (b *body) nextChunk() error {
	if b.begun {
		if err := b.conn.in.crlf(); err != nil {
			return err
		}
	}
	line, err := b.conn.in.line(chunkLine)
	if err != nil {
		return err
	}
	size, err := parseChunkLine(line)
	if err != nil {
		return err
	}
	if b.excess += int64(len(line)); b.excess > chunkExcess {
		return &BodyError{"their lines are longer than their data"}
	}
	b.begun = true
	if b.left = size; size == 0 {
		return b.trailers()
	}
	return nil
}

// trailers reads the fields behind the last chunk and drops them.
func (b *body) trailers() error {
	limits := b.conn.server.limits().withDefaults()
	for total, count := 0, 0; ; count++ {
		line, err := b.conn.in.line(limits.HeaderBytes)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return io.EOF
		}
		colon := bytes.IndexByte(line, ':')
		if total += len(line); total > limits.HeaderBytes || count == limits.HeaderLines {
			return &BodyError{"the trailers are more than a head may have"}
		}
		if colon < 1 || !isTokenString(string(line[:colon])) || !isFieldValue(string(line[colon+1:])) {
			return &BodyError{"a trailer is no field"}
		}
	}
}

// parseChunkLine reads a size in hexadecimal. Extensions are allowed and ignored.
func parseChunkLine(line []byte) (size int64, err error) {
	digits := line
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		digits = line[:i]
		if !isFieldValue(string(line[i:])) {
			return 0, &BodyError{"an extension has a control byte"}
		}
	}
	if len(digits) == 0 || len(digits) > 16 {
		return 0, &BodyError{"a size is not 1 to 16 digits"}
	}
	for _, c := range digits {
		v := hexValue(c)
		if v < 0 {
			return 0, &BodyError{"a size is not a hexadecimal number"}
		}
		size = size<<4 | v
	}
	if size < 0 {
		return 0, &BodyError{"a size is beyond 63 bits"}
	}
	return size, nil
}

func hexValue(c byte) int64 {
	switch {
	case '0' <= c && c <= '9':
		return int64(c - '0')
	case 'a' <= c && c <= 'f':
		return int64(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return int64(c - 'A' + 10)
	}
	return -1
}

// line takes a line that ends in CRLF, of at most limit bytes, and returns it without that. It is good until the next
// call of any method.
func (in *input) line(limit int) ([]byte, error) {
	for seen := 0; ; {
		b := in.waiting()
		if i := bytes.IndexByte(b[seen:], '\n'); i >= 0 {
			end := seen + i
			if end == 0 || b[end-1] != '\r' {
				return nil, &BodyError{"a line ends in LF alone"}
			}
			if end >= limit {
				return nil, &BodyError{"a line is too long"}
			}
			in.take(end + 1)
			return b[:end-1], nil
		}
		if seen = len(b); seen >= limit {
			return nil, &BodyError{"a line is too long"}
		}
		if err := in.moreOfBody(limit); err != nil {
			return nil, err
		}
	}
}

// crlf takes what ends the data of a chunk.
func (in *input) crlf() error {
	for {
		b := in.waiting()
		if len(b) > 0 && b[0] != '\r' || len(b) > 1 && b[1] != '\n' {
			return &BodyError{"a chunk is longer than it says"}
		}
		if len(b) > 1 {
			in.take(2)
			return nil
		}
		if err := in.moreOfBody(inputSize); err != nil {
			return err
		}
	}
}

func (in *input) moreOfBody(limit int) error {
	err := in.more(max(limit, inputSize))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
