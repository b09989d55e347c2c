package proxy

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// The ways in which a client's body can be at fault.
var (
	errBodyTooLarge = errors.New("the body is larger than the site's limits.body")
	errBodySlow     = errors.New("the body came more slowly than limits.body_timeout and limits.body_min_rate allow")
)

// limitBody refuses a body that says it is too large and bounds the others while they are read: their
// size, the wait for each further piece, and how little may come meanwhile, in bytes a second.
func limitBody(limit int64, timeout time.Duration, minRate int64) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > limit {
				fail(w, r, errBodyTooLarge)
				return
			}
			if r.ContentLength != 0 {
				body := &clientBody{
					body:     http.MaxBytesReader(w, r.Body, limit),
					control:  http.NewResponseController(w),
					patience: patience{full: timeout, rate: minRate},
				}
				body.restore()
				r.Body = body
			}
			next.ServeHTTP(w, r)
		})
	}
}

// clientBody gives each read a deadline of its own and says what is wrong in our words.
type clientBody struct {
	body    io.ReadCloser
	control *http.ResponseController
	patience
	err error // of the last read, if that was the last
}

func (b *clientBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	// Where there are no deadlines, as in tests with a recorder, there is no slow client either.
	begun := time.Now()
	_ = b.control.SetReadDeadline(begun.Add(b.left))
	n, err := b.body.Read(p)
	b.spend(begun, int64(n))
	if err == io.EOF {
		// What is read next on this connection is the wait for its next request, or for its end. After a
		// fault the deadline stays.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	b.err = bodyError(err)
	return n, b.err
}

// Close does nothing after the end, or a fault: net/http would read on at the client's pace. It closes the
// body itself once the answer is written.
func (b *clientBody) Close() error {
	if b.err != nil {
		return nil
	}
	return b.body.Close()
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errBodyTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errBodySlow
	}
	return err
}
