package static

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// smallFile is up to what size a file is read and written together with its header. Above it sendfile takes
// more system calls and copies less.
const smallFile = 32 << 10

var buffers = sync.Pool{New: func() any { return new([smallFile]byte) }}

// A writer stands between http.ServeContent and the client. It counts, which ServeContent does not tell, and
// gives each file to the system call that suits it.
type writer struct {
	http.ResponseWriter
	encoding string
	size     int64
	now      time.Time
	status   int
	written  int64
	err      error // the first of a write or read
}

// WriteHeader completes the header for its status. Content-Encoding comes this late because ServeContent
// leaves out Content-Length where it finds one.
func (w *writer) WriteHeader(status int) {
	w.status = status
	h := w.Header()
	switch {
	case status == http.StatusPreconditionFailed:
		delete(h, "Content-Type")
		delete(h, "Cache-Control")
	case status == http.StatusRequestedRangeNotSatisfiable:
		// ServeContent says it only where it understood what was asked for.
		h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(w.size, 10)}
	case w.encoding != "" && (status == http.StatusOK || status == http.StatusPartialContent):
		h["Content-Encoding"] = []string{w.encoding}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	return n, w.count(int64(n), err)
}

func (w *writer) count(n int64, err error) error {
	w.written += n
	if w.err == nil {
		w.err = err
	}
	return err
}

// ReadFrom sends what io.CopyN gives it: a limited reader of a file, or of the parts of one.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	if limited, ok := src.(*io.LimitedReader); ok {
		if from, ok := limited.R.(*file); ok {
			if limited.N <= smallFile && from.opened == nil {
				return w.sendSmall(from, int(limited.N))
			}
			if _, err := from.large().Seek(from.pos, io.SeekStart); err != nil {
				return 0, w.count(0, err)
			}
			limited.R = from.large()
		}
	}
	n, err := w.copy(src)
	return n, w.count(n, err)
}

// copy lets the writer below use sendfile, if it can.
func (w *writer) copy(src io.Reader) (int64, error) {
	if to, ok := w.ResponseWriter.(io.ReaderFrom); ok {
		return to.ReadFrom(src)
	}
	buf := buffers.Get().(*[smallFile]byte)
	defer buffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{w.ResponseWriter}, src, buf[:])
}

// sendSmall has the bytes before it writes any, so that header and body leave in one packet.
func (w *writer) sendSmall(from *file, size int) (int64, error) {
	if from.data != nil {
		n, err := w.Write(from.data[from.pos:][:size])
		return int64(n), err
	}
	buf := buffers.Get().(*[smallFile]byte)
	defer buffers.Put(buf)
	n, err := from.readFull(buf[:size])
	if err != nil || n < size {
		return 0, w.count(0, err)
	}
	if from.in.small != nil && int64(n) == from.size {
		from.in.small.put(from.name, from.state, buf[:n], w.now)
	}
	n, err = w.Write(buf[:n])
	return int64(n), err
}

// outcome compares what was sent with what was promised.
func (w *writer) outcome(r *http.Request, name string) (Outcome, error) {
	if r.Method == http.MethodHead || w.status != http.StatusOK && w.status != http.StatusPartialContent {
		return Served, nil
	}
	promised, err := strconv.ParseInt(w.Header().Get("Content-Length"), 10, 64)
	switch {
	case err == nil && w.err == nil && w.written == promised:
		return Served, nil
	case w.err != nil:
		return Aborted, fmt.Errorf("send %s: %w", name, w.err)
	}
	return Aborted, fmt.Errorf("send %s: %w: %d of %d bytes", name, ErrTruncated, w.written, promised)
}
