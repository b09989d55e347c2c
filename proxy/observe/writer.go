package observe

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// responseWriter notes the status and counts the bytes of the body on their way out.
type responseWriter struct {
	http.ResponseWriter
	status   int
	written  int64
	bodyless bool // HEAD: net/http takes a body and sends nothing of it
}

// Unwrap lets http.ResponseController reach deadlines and full duplex.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes on informational statuses as often as they come, and the final one once: a second
// would only make net/http complain in its error log.
func (w *responseWriter) WriteHeader(code int) {
	if w.status != 0 {
		return
	}
	if code >= 200 || code == http.StatusSwitchingProtocols {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.defaultStatus()
	n, err := w.ResponseWriter.Write(p)
	w.count(int64(n))
	return n, err
}

// ReadFrom hands the source down untouched, so that a file still leaves by sendfile.
func (w *responseWriter) ReadFrom(src io.Reader) (int64, error) {
	w.defaultStatus()
	dst, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(writerOnly{w}, src)
	}
	n, err := dst.ReadFrom(src)
	w.count(n)
	return n, err
}

// Flush is FlushError for those who ask for an http.Flusher.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// FlushError sends what is buffered, and the header first if that is still to be sent.
func (w *responseWriter) FlushError() error {
	w.defaultStatus()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes the connection over. Unless a status was written before, the record says 101.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

func (w *responseWriter) defaultStatus() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

func (w *responseWriter) count(n int64) {
	if !w.bodyless {
		w.written += n
	}
}

// writerOnly hides ReadFrom from io.Copy, which would call it again without end.
type writerOnly struct{ io.Writer }
