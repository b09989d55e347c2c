package proxy

import (
	"io"
	"net/http"
	"time"
)

// pieceSize is how much of a file a client must take within the time for one write.
const pieceSize = 64 << 10

// pace gives each piece of an answer, whoever writes it, a deadline of its own: not the answer as a whole,
// which may be a download of hours, nor the wait for a backend before it.
func pace(timeout time.Duration) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := &pacedWriter{ResponseWriter: w, timeout: timeout, stream: r.ProtoMajor > 1}
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
	timeout time.Duration
	stream  bool
	set     time.Time // when the deadline was; zero when there is none
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
	w.extend()
	return w.ResponseWriter.Write(p)
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
		w.extend()
		n, err := io.Copy(w.ResponseWriter, &piece)
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
	w.extend()
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.rest()
	return err
}

// extend gives the client the whole time again, but for the little that has just been used. Where there are no
// deadlines, there is no slow client either.
func (w *pacedWriter) extend() {
	now := time.Now()
	if now.Sub(w.set) < w.timeout/64 {
		return
	}
	w.set = now
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(now.Add(w.timeout))
}

// rest takes the deadline off until the next write.
func (w *pacedWriter) rest() {
	if w.stream {
		w.set = time.Time{}
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
	}
}
