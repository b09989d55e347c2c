package proxy

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"gateway/proxy/observe"
)

// acceptConnect makes of a stream's extended CONNECT (RFC 8441, RFC 9220) the upgrade that an HTTP/1.1 client would have
// sent, which is all that backends know. The answer comes back by way of the request's connectStream.
func acceptConnect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol := connectProtocol(r)
		if protocol == "" {
			next.ServeHTTP(w, r)
			return
		}
		if protocol != "websocket" {
			fail(w, r, errProtocol)
			return
		}
		s := &connectStream{w: w, control: http.NewResponseController(w), r: r}
		next.ServeHTTP(&connectWriter{ResponseWriter: w, stream: s}, s.upgrade())
	})
}

// connectProtocol returns what an extended CONNECT asks for, and "" for any other request. It stands in place of the
// version, as quic-go has it.
func connectProtocol(r *http.Request) string {
	if r.Method != http.MethodConnect || r.ProtoMajor < 2 || strings.HasPrefix(r.Proto, "HTTP/") {
		return ""
	}
	return r.Proto
}

type streamKey struct{}

// streamOf returns the stream that r came on as a CONNECT, or nil.
func streamOf(r *http.Request) *connectStream {
	s, _ := r.Context().Value(streamKey{}).(*connectStream)
	return s
}

// connectStream is the client's side of a tunnel on a stream: what comes as the body of its request, and goes as the
// body of the answer. It has no deadline for reading, as that of HTTP/2 cannot be used twice.
type connectStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	r       *http.Request // as the client sent it
	opened  bool
	closed  atomic.Bool
}

func (s *connectStream) upgrade() *http.Request {
	r := s.r.WithContext(context.WithValue(s.r.Context(), streamKey{}, s))
	r.Method, r.Proto, r.ProtoMajor, r.ProtoMinor = http.MethodGet, "HTTP/1.1", 1, 1
	r.Body, r.ContentLength = http.NoBody, 0
	key := make([]byte, 16)
	_, _ = rand.Read(key) // never fails
	h := r.Header
	delete(h, "Content-Length")
	h["Connection"], h["Upgrade"] = []string{"upgrade"}, []string{"websocket"}
	h["Sec-Websocket-Key"] = []string{base64.StdEncoding.EncodeToString(key)}
	return r
}

// open tells the client that the tunnel is there, with what else the backend said.
func (s *connectStream) open(from http.Header) error {
	s.opened = true
	h := s.w.Header()
	removeHopByHop(from)
	delete(from, "Sec-Websocket-Accept")
	for name, values := range from {
		h[name] = values
	}
	h["Content-Type"] = from["Content-Type"] // else one would be guessed
	s.w.WriteHeader(http.StatusOK)
	return s.control.Flush()
}

func (s *connectStream) fault(err error) { observe.FromContext(s.r.Context()).Err = err }

func (s *connectStream) Read(p []byte) (int, error) {
	n, err := s.r.Body.Read(p)
	if err != nil && s.closed.Load() {
		err = net.ErrClosed
	}
	return n, err
}

func (s *connectStream) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		return n, err
	}
	return n, s.control.Flush()
}

// Close ends a Read that waits. What has been written still reaches the client.
func (s *connectStream) Close() error {
	s.closed.Store(true)
	return s.control.SetReadDeadline(time.Unix(1, 0))
}

// connectWriter keeps an ordinary answer from opening a tunnel: for a CONNECT, any success does.
type connectWriter struct {
	http.ResponseWriter
	stream *connectStream
	wrote  bool
	mute   bool // the answer is none for the client
}

// Unwrap lets http.ResponseController reach what lies below.
func (w *connectWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader says instead of success that there are no WebSockets.
func (w *connectWriter) WriteHeader(status int) {
	if w.wrote {
		return
	}
	w.wrote = status >= http.StatusOK
	if status < http.StatusOK || status >= http.StatusMultipleChoices {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.mute = true
	clear(w.Header())
	fail(w.ResponseWriter, w.stream.r, errProtocol)
}

func (w *connectWriter) Write(p []byte) (int, error) {
	if w.WriteHeader(http.StatusOK); w.mute {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// FlushError sends what is buffered.
func (w *connectWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}
