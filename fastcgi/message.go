package fastcgi

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	// smallMessage is the size of params, and of a body, that go out in one write together. Twice that fits
	// the buffer of a fresh socket, so the write does not wait for the script to read.
	smallMessage = 32 << 10
	// maxPooledMessage keeps one huge request from staying in memory.
	maxPooledMessage = 128 << 10
)

// message is a request as records: all of it if it is small, else without the body.
type message struct {
	buf    []byte
	script int  // where in buf the params are complete; a script may run from there on
	whole  bool // the body is in buf
}

var messages = sync.Pool{New: func() any { return &message{buf: make([]byte, 0, 8<<10)} }}

func newMessage(params []Param, r *http.Request, keep bool) (*message, error) {
	m := messages.Get().(*message)
	err := m.encode(params, r, keep)
	if err != nil {
		m.free()
		return nil, err
	}
	return m, nil
}

func (m *message) encode(params []Param, r *http.Request, keep bool) (err error) {
	m.buf = appendBegin(m.buf[:0], keep)
	if m.buf, err = appendParams(m.buf, params); err != nil {
		return err
	}
	m.script = len(m.buf)
	m.whole = r.ContentLength <= smallMessage && (r.ContentLength == 0 || len(m.buf) <= smallMessage)
	if !m.whole {
		return nil
	}
	return m.addBody(r.Body, int(r.ContentLength))
}

// addBody reads n bytes, makes one STDIN record of them, and appends the empty one that ends the stream.
func (m *message) addBody(body io.Reader, n int) error {
	if n > 0 {
		m.buf = appendHeader(m.buf, typeStdin, n)
		at := len(m.buf)
		m.buf = append(m.buf, make([]byte, n)...)
		if err := readBody(body, m.buf[at:]); err != nil {
			return err
		}
	}
	m.buf = appendHeader(m.buf, typeStdin, 0)
	return nil
}

// readBody fills p. A body that ends before its length is an error, never a shorter request.
func readBody(body io.Reader, p []byte) error {
	_, err := io.ReadFull(body, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRequestBody, err)
	}
	return nil
}

func (m *message) free() {
	if cap(m.buf) <= maxPooledMessage {
		messages.Put(m)
	}
}
