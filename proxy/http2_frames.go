package proxy

// The types of HTTP/2 frames that are counted (RFC 9113, 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameContinuation = 0x9
)

const (
	flagEndStream  = 0x1 // of DATA and HEADERS
	flagAck        = 0x1 // of SETTINGS and PING
	flagEndHeaders = 0x4
)

// prefaceSize is the length of what an HTTP/2 client sends before its first frame.
const prefaceSize = len(http2Preface)

const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frameHead is what stands before the payload of a frame.
type frameHead struct {
	length      int
	kind, flags byte
}

// frameScanner finds the frames in the bytes of one direction, however they are cut into reads or writes.
type frameScanner struct {
	head [9]byte
	have int // bytes of head
	skip int // bytes until the next head
}

// scan calls found for each frame whose head ends in p, until it returns an error.
func (s *frameScanner) scan(p []byte, found func(frameHead) error) error {
	for len(p) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(p))
			s.skip -= n
			p = p[n:]
			continue
		}
		n := copy(s.head[s.have:], p)
		p = p[n:]
		if s.have += n; s.have < len(s.head) {
			return nil
		}
		s.have = 0
		s.skip = int(s.head[0])<<16 | int(s.head[1])<<8 | int(s.head[2])
		if err := found(frameHead{s.skip, s.head[3], s.head[4]}); err != nil {
			return err
		}
	}
	return nil
}
