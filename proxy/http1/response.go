package http1

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// copySize is what a body is copied by: one record of TLS.
const copySize = 16 << 10

var copies = sync.Pool{New: func() any { return new([copySize]byte) }}

var errShort = errors.New("the handler wrote less than its Content-Length")

// response is the http.ResponseWriter of a connection, for one request after the other; nobody may use it after the
// handler has returned. A short answer leaves in one write, at the end.
type response struct {
	conn   *conn
	header http.Header // of this answer; the map is used again
	out    output
	held   *held // of the body, while framing is undecided; nil for nothing

	minor    int  // of the request's version
	toHead   bool // the request is HEAD
	keep     bool // the client wants to keep the connection
	body     *body
	cancel   context.CancelFunc
	status   int // zero before WriteHeader
	framing  framing
	length   int64 // of the body, or -1; from the first byte of the body on it stays as it is
	written  int64 // of the body
	close    bool  // the connection ends behind this answer; decided with the framing
	hijacked bool
}

// framing is how the client knows where the body ends.
type framing int

const (
	undecided framing = iota // and the head is still to be made
	bodyless
	counted // Content-Length
	chunks
	toTheEnd // of the connection, for HTTP/1.0
)

func (w *response) begin(m *message, b *body, cancel context.CancelFunc) {
	header := w.header
	if header == nil {
		header = make(http.Header)
	}
	clear(header)
	*w = response{
		conn: w.conn, header: header, out: output{nc: w.conn.nc, socket: w.conn.socket, order: w.out.order},
		minor: m.minor, toHead: m.method == http.MethodHead, keep: !m.close, body: b, cancel: cancel,
	}
}

// Header returns the fields of the head, until that is sent.
func (w *response) Header() http.Header { return w.header }

// WriteHeader decides on the status. An informational one is sent at once, and others may follow it.
func (w *response) WriteHeader(status int) {
	if w.hijacked || w.status != 0 {
		return
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		w.interim(status)
		return
	}
	w.status = status
}

// interim sends an informational answer; HTTP/1.0 knows none. What cannot be sent shows when the answer is.
func (w *response) interim(status int) {
	if w.minor == 0 {
		return
	}
	w.out.statusLine(w.minor, status)
	w.out.fields(w.header)
	w.out.text("\r\n")
	_ = w.out.flush()
}

// Write sends p as a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if err := w.admit(int64(len(p))); err != nil {
		return 0, err
	}
	if w.framing == undecided {
		if w.length < 0 && w.hold(p) {
			return len(p), nil
		}
		if err := w.decide(); err != nil {
			return 0, err
		}
	}
	if err := w.emit(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// admit says whether the body may have n further bytes.
func (w *response) admit(n int64) error {
	if w.hijacked {
		return http.ErrHijacked
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.measure()
	switch {
	case !hasBody(w.status):
		return http.ErrBodyNotAllowed
	case w.length >= 0 && n > w.length-w.written && (w.framing == counted || w.framing == undecided):
		return http.ErrContentLength
	}
	return nil
}

// measure takes the length that the handler has set, unless a part of the body is there already: its head is as good as
// written.
func (w *response) measure() {
	if w.framing == undecided && w.held == nil {
		w.length = w.declared()
	}
}

// declared is the length that the handler has set, or -1.
func (w *response) declared() int64 {
	if values := w.header["Content-Length"]; len(values) == 1 {
		if n, ok := parseLength(values[0]); ok {
			return n
		}
	}
	return -1
}

func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// emit sends p in the framing that was decided on.
func (w *response) emit(p []byte) error {
	w.written += int64(len(p))
	var err error
	switch w.framing {
	case counted, toTheEnd:
		err = w.out.write(p)
	case chunks:
		err = w.out.chunk(p)
	}
	return w.check(err)
}

// check ends the request when the client can be told no more.
func (w *response) check(err error) error {
	if err != nil {
		w.cancel()
	}
	return err
}

// ReadFrom sends src as a part of the body: a file goes from disk to socket without passing here, if it does not fit
// behind the head.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	piece, ok := src.(*io.LimitedReader)
	if !ok || w.admit(piece.N) != nil || w.toHead || w.length < 0 {
		return w.copy(src)
	}
	if w.framing == undecided {
		if err := w.decide(); err != nil {
			return 0, err
		}
	}
	socket := w.conn.socket
	if _, file := piece.R.(*os.File); !file || socket == nil || piece.N <= int64(w.out.room()) {
		return w.copy(src)
	}
	if err := w.check(w.out.flush()); err != nil {
		return 0, err
	}
	n, err := socket.ReadFrom(src)
	w.written += n
	w.out.failed = err
	return n, w.check(err)
}

// copy sends src by way of a buffer.
func (w *response) copy(src io.Reader) (int64, error) {
	buffer := copies.Get().(*[copySize]byte)
	defer copies.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{src}, buffer[:])
}

// Flush is FlushError for those who ask for an http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError sends what has been written, and the head before it.
func (w *response) FlushError() error {
	if w.hijacked {
		return http.ErrHijacked
	}
	if w.framing == undecided {
		if err := w.decide(); err != nil {
			return err
		}
	}
	return w.check(w.out.flush())
}

// SetReadDeadline bounds reading from the client: of the body, or of what tells that it left. One that has passed ends
// the request.
func (w *response) SetReadDeadline(t time.Time) error { return w.conn.watch.setDeadline(t) }

// SetWriteDeadline bounds sending. It holds for later answers on the connection as well, until it is set again.
func (w *response) SetWriteDeadline(t time.Time) error { return w.conn.nc.SetWriteDeadline(t) }

// finish sends what is left, with the length of the body if the whole of it was held.
func (w *response) finish() error {
	defer w.release()
	if w.framing == undecided {
		if w.status == 0 {
			w.status = http.StatusOK
		}
		if w.measure(); w.length < 0 && (w.held != nil || !w.toHead) {
			w.length = int64(w.held.len())
		}
		if err := w.decideWith(w.length); err != nil {
			return err
		}
	}
	if w.framing == chunks {
		w.out.text("0\r\n\r\n")
	}
	if err := w.check(w.out.flush()); err != nil {
		return err
	}
	if w.framing == counted && w.written < w.length {
		return errShort
	}
	return nil
}

// abort lets go of an answer that breaks off. Where only the end of the connection would show its end, a reset shows
// that this is none.
func (w *response) abort() {
	w.release()
	if w.conn.socket != nil && w.framing == toTheEnd {
		_ = w.conn.socket.SetLinger(0)
	}
}

// release gives the buffers back, whatever they hold.
func (w *response) release() {
	w.held.free()
	w.held = nil
	w.out.release()
}
