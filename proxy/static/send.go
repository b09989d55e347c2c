package static

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// smallFile is up to what size a file is read and written together with its header. Above it sendfile
	// takes more system calls and copies less.
	smallFile = 32 << 10
	// maxRanges is how many parts of a file one request may ask for. With more it gets the whole file: each
	// part costs a header of its own.
	maxRanges = 32
)

var buffers = sync.Pool{New: func() any { return new([smallFile]byte) }}

// send answers r with opened, or with a sidecar of it. http.ServeContent decides between 200, 206, 304, 412
// and 416; here are the headers it is not told by, and whether the body was whole.
func (f *Files) send(w http.ResponseWriter, r *http.Request, opened *file, name string) (Outcome, error) {
	k := kindOf(name)
	h := w.Header()
	body, encoding := opened, ""
	if k.compressible {
		h["Vary"] = append(h["Vary"], "Accept-Encoding")
		if side, coding := f.sidecar(opened, r.Header["Accept-Encoding"]); side != nil {
			defer side.Close()
			body, encoding = side, coding
		}
	}
	h["Content-Type"] = []string{k.contentType}
	h["Etag"] = []string{body.etag(encoding)}
	if isImmutable(name) {
		h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	}
	r = withoutOddRange(r)
	if strings.Contains(r.Header.Get("Range"), ",") {
		body.detach() // the parts are read by a goroutine that may end after us
	}
	now := f.now()
	out := &writer{ResponseWriter: w, encoding: encoding, now: now}
	http.ServeContent(out, r, "", opened.modified(now), body)
	return out.outcome(r, name)
}

// withoutOddRange takes from r a Range that RFC 9110 wants ignored and net/http does not ignore: with HEAD,
// or in a unit other than bytes; or that asks for too many parts.
func withoutOddRange(r *http.Request) *http.Request {
	value := r.Header.Get("Range")
	if value == "" {
		return r
	}
	if r.Method == http.MethodGet && strings.HasPrefix(value, "bytes=") && strings.Count(value, ",") < maxRanges {
		return r
	}
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	plain.Header.Del("Range")
	return plain
}

// firstStamp is the time before which a modification time says nothing: tools that build the same archive
// twice set 0, 1, or the first day of DOS.
const firstStamp = 315_705_600 // 1980-01-03

// etag returns a strong validator that is equal on all machines to which a file was copied with its time.
// Where that time is no time, it is one of this machine's file alone.
func (f *file) etag(encoding string) string {
	tag := make([]byte, 0, 64)
	tag = append(tag, '"')
	tag = strconv.AppendInt(tag, f.mtime.Nano(), 36)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, f.size, 36)
	if int64(f.mtime.Sec) < firstStamp {
		tag = append(tag, '-')
		tag = strconv.AppendInt(tag, f.ctime.Nano(), 36)
		tag = append(tag, '-')
		tag = strconv.AppendUint(tag, f.inode, 36)
	}
	if encoding != "" {
		tag = append(tag, '-')
		tag = append(tag, encoding...)
	}
	return string(append(tag, '"'))
}

// modified returns the time for Last-Modified: none where it says nothing, or lies in the future, which
// RFC 9110, 8.8.2.1, forbids.
func (f *file) modified(now time.Time) time.Time {
	mtime := time.Unix(f.mtime.Unix())
	if int64(f.mtime.Sec) < firstStamp || mtime.After(now) {
		return time.Time{}
	}
	return mtime
}

// A writer stands between http.ServeContent and the client. It counts, which ServeContent does not tell, and
// gives each file to the system call that suits it.
type writer struct {
	http.ResponseWriter
	encoding string
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
