package upstream

import (
	"bytes"
	"context"
	"net/http"
	"time"
)

// stream is the connection of a tunnel, and what had been read of it along with the head.
type stream struct {
	duplexConn
	early []byte
}

// Read returns the early bytes first. Its end is a plain io.EOF, its errors are those of the socket.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.early) == 0 {
		return s.duplexConn.Read(p)
	}
	n := copy(p, s.early)
	if s.early = s.early[n:]; len(s.early) == 0 {
		s.early = nil // a tunnel lives long
	}
	return n, nil
}

// switchProtocols hands the connection over as the body of the response.
func (x *exchange) switchProtocols(resp *http.Response) (*http.Response, error) {
	if !x.upgrade || !x.sentAll() {
		return nil, ErrUnexpectedUpgrade
	}
	if x.unbind != nil && !x.unbind() {
		return nil, context.Cause(x.r.Context())
	}
	early, _ := x.c.r.Peek(x.c.r.Buffered()) // no more than is there: it cannot fail
	if err := x.c.socket.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	resp.Body = &stream{duplexConn: x.c.socket, early: bytes.Clone(early)}
	return resp, nil
}
