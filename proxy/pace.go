package proxy

import (
	"io"
	"net/http"
	"time"
)

// pieceSize is how much of a file a client must take within the time for one write.
const pieceSize = 64 << 10

// pace gives each piece of an answer, whoever writes it, a deadline of its own: not the answer as a whole,
// which may be a download of hours, nor the wait for a backend before it. Small pieces, taken one by one at the last
// moment, do not count as more than they are: there must be minRate bytes for each second that the client is waited for.
func pace(timeout time.Duration, minRate int64) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := &pacedWriter{
				ResponseWriter: w, control: *http.NewResponseController(w),
				patience: patience{full: timeout, rate: minRate}, stream: r.ProtoMajor > 1,
			}
			p.restore()
			if !p.stream {
				p.extend() // the deadline of the last answer on this connection would still hold
			}
			next.ServeHTTP(p, r)
		})
	}
}

// pacedWriter extends the deadline before each write. One that passes while nothing is written does no harm on
// a connection, but ends a stream of HTTP/2, so there it is taken off when nothing is left to be written.
type pacedWriter struct {
	http.ResponseWriter
	control http.ResponseController // of ResponseWriter; a copy, for one by itself would be an allocation
	patience
	stream bool
	until  time.Time // the deadline; zero when there is none
}

// Unwrap lets http.ResponseController reach what lies below.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes status on. An interim one is written at once.
func (w *pacedWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
	if status < http.StatusOK {
		w.rest()
	}
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	begun := w.extend()
	n, err := w.ResponseWriter.Write(p)
	w.spend(begun, int64(n))
	return n, err
}

// ReadFrom hands src down in pieces, each in the form that sendfile knows: a limited reader of a file.
func (w *pacedWriter) ReadFrom(src io.Reader) (int64, error) {
	piece := io.LimitedReader{R: src}
	whole, limited := src.(*io.LimitedReader)
	if limited {
		piece.R = whole.R
	}
	for total := int64(0); ; {
		piece.N = pieceSize
		if limited {
			piece.N = min(pieceSize, whole.N)
		}
		want := piece.N
		begun := w.extend()
		n, err := io.Copy(w.ResponseWriter, &piece)
		w.spend(begun, n)
		total += n
		if limited {
			whole.N -= want - piece.N
		}
		if err != nil || piece.N > 0 || limited && whole.N <= 0 {
			return total, err
		}
	}
}

// FlushError sends what is buffered.
func (w *pacedWriter) FlushError() error {
	begun := w.extend()
	err := w.control.Flush()
	w.spend(begun, 0)
	w.rest()
	return err
}

// extend gives the client the time that is left to him, from now on, and returns the time. A deadline that is only a
// little later is not worth setting. Where there are no deadlines, there is no slow client either.
func (w *pacedWriter) extend() (now time.Time) {
	now = time.Now()
	until := now.Add(w.left)
	if until.Sub(w.until) > w.full/64 {
		w.until = until
		_ = w.control.SetWriteDeadline(until)
	}
	return now
}

// rest takes the deadline off until the next write.
func (w *pacedWriter) rest() {
	if w.stream {
		w.until = time.Time{}
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}
