package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"time"

	"gateway/proxy/observe"
	"gateway/upstream"
)

// forward sends requests to one upstream and its answers back.
type forward struct {
	group   *group
	dialect dialect
	hints   bool          // the backend may send informational answers
	headers []header      // set where the application has not
	storage storage       // of answers
	idle    time.Duration // of a tunnel
	tunnels *tunnels
	state   *state // that this is part of
}

// dialect is what differs between FPM and Octane: what the request must say, and what of the answer is
// not for the client.
type dialect interface {
	// request makes r ready to be sent; target is its request target in origin form. stderr, which may be
	// nil, returns what the application said on the side, once the exchange is over.
	request(ctx context.Context, r *http.Request, target string) (out *http.Request, stderr func() []string, err error)
	// hidden lists headers of the answer that stay here.
	hidden() []string
}

// header is one of the site's own. Its values are shared by all answers.
type header struct {
	name   string
	values []string
}

func (f *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := f.serve(w, r); err != nil {
		fail(w, r, err)
	}
}

// attempt is ServeHTTP where someone else can answer as well: when no backend can be reached, it returns the request
// for him, as if it had never been here. Else it returns nil.
func (f *forward) attempt(w http.ResponseWriter, r *http.Request) (again *http.Request) {
	mine := r.WithContext(upstream.WithFallback(r.Context()))
	mine.Header = r.Header.Clone() // the dialect speaks through it
	err := f.serve(w, mine)
	if err == nil {
		return nil
	}
	again, ok := upstream.Elsewhere(r, err)
	if !ok {
		fail(w, r, err)
	}
	return again
}

// serve answers r, unless it returns an error: then nothing has been said.
func (f *forward) serve(w http.ResponseWriter, r *http.Request) error {
	rec := observe.FromContext(r.Context())
	rec.Upstream = f.group.name
	target, err := originForm(r)
	if err != nil {
		return err
	}
	trace := new(upstream.Trace)
	if f.hints && r.ProtoAtLeast(1, 1) { // to an older client an interim answer is the answer
		trace.Informational = func(code int, header textproto.MIMEHeader) error { return earlyHint(w, code, header) }
	}
	var stderr func() []string
	defer func() { note(rec, trace, stderr) }()
	out, stderr, err := f.dialect.request(upstream.WithTrace(r.Context(), trace), r, target)
	if err != nil {
		return err
	}
	resp, err := f.group.RoundTrip(out)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		f.tunnel(w, r, resp)
		return nil
	}
	defer resp.Body.Close()
	f.answer(w, r, resp)
	return nil
}

// note fills the record from what happened upstream, however that ended.
func note(rec *observe.Record, trace *upstream.Trace, stderr func() []string) {
	rec.Backend, rec.Attempts, rec.Reused = trace.Backend, trace.Attempts, trace.Reused
	rec.Queue, rec.Dial, rec.FirstByte = trace.Queue, trace.Dial, trace.FirstByte
	if stderr != nil {
		rec.Stderr = stderr()
	}
}

func (f *forward) answer(w http.ResponseWriter, r *http.Request, resp *http.Response) {
	rec := observe.FromContext(r.Context())
	atOnce := isStream(resp.Header)
	f.copyHeader(w.Header(), resp.Header)
	begun := time.Now()
	defer func() { rec.Body = time.Since(begun) }()
	relay := newRelay(w, r, resp.StatusCode, f.storage)
	defer relay.close()
	backendErr, clientErr := f.body(relay, r, resp, atOnce)
	switch {
	case clientErr != nil || errors.Is(r.Context().Err(), context.Canceled):
		rec.Err = errors.Join(clientErr, r.Context().Err())
		rec.Status = statusClientGone
		panic(http.ErrAbortHandler)
	case backendErr != nil && !relay.client.started:
		clear(w.Header())
		fail(w, r, fmt.Errorf("%w: %w", errCut, backendErr))
	case backendErr != nil:
		rec.Err, rec.Truncated = backendErr, true
		panic(http.ErrAbortHandler)
	}
}

// body sends the answer's body, if it may have one.
func (f *forward) body(relay *relay, r *http.Request, resp *http.Response, atOnce bool) (backendErr, clientErr error) {
	if r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		// To its end all the same: only then is the worker known to be free.
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err, nil
		}
		relay.client.start()
		return nil, nil
	}
	return relay.copy(resp.Body, atOnce)
}

// copyHeader gives the client the application's headers, less those of the connection and those that
// speak to the server in front, and adds the site's own where the application is silent.
func (f *forward) copyHeader(to, from http.Header) {
	removeHopByHop(from)
	for _, name := range f.dialect.hidden() {
		delete(from, name)
	}
	if from[hstsHeader] != nil {
		delete(to, hstsHeader) // the application's own wins, as it does over the site's headers
	}
	for name, values := range from {
		if before := to[name]; before != nil {
			values = append(before, values...)
		}
		to[name] = values
	}
	if from["Content-Type"] == nil {
		to["Content-Type"] = nil // else net/http would guess one for HTTP/2
	}
	for _, h := range f.headers {
		if to[h.name] == nil {
			to[h.name] = h.values
		}
	}
}

// isStream says whether an answer must not be held back at all.
func isStream(h http.Header) bool {
	return h.Get("X-Accel-Buffering") == "no" || mediaType(h.Get("Content-Type")) == "text/event-stream"
}

// earlyHint passes a 103 of the backend on as it comes.
func earlyHint(w http.ResponseWriter, code int, header textproto.MIMEHeader) error {
	if code != http.StatusEarlyHints {
		return nil
	}
	h := w.Header()
	before := h.Clone()
	for name, values := range header {
		h[name] = values
	}
	w.WriteHeader(code)
	clear(h)
	maps.Copy(h, before)
	return nil
}

// tunnel leaves the tunnel to itself: were its handler to wait for its end, all that a request holds would be kept
// meanwhile, which is many times of what an idle tunnel needs.
func (f *forward) tunnel(w http.ResponseWriter, r *http.Request, resp *http.Response) {
	backend, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || !isUpgrade(r) {
		resp.Body.Close()
		fail(w, r, fmt.Errorf("%w: 101 to a request that asked for no upgrade", errCut))
		return
	}
	if s := streamOf(r); s != nil {
		f.tunnelStream(s, resp, backend)
		return
	}
	t, err := openTunnel(w, resp, backend, f.idle)
	if err != nil {
		resp.Body.Close()
		observe.FromContext(r.Context()).Err = err
		return
	}
	end, release := observe.Tunnel(r.Context()), f.state.hold()
	remove := f.tunnels.add(t)
	go func() {
		defer remove()
		defer release() // the log is the state's
		t.run()
		end(t.in, t.out)
	}()
}

// tunnelStream answers a stream's CONNECT and carries what passes. The stream ends with its handler, so this waits.
func (f *forward) tunnelStream(s *connectStream, resp *http.Response, backend io.ReadWriteCloser) {
	if err := s.open(resp.Header); err != nil {
		backend.Close()
		s.fault(err)
		return
	}
	t := &tunnel{client: s, stream: true, backend: backend, idle: f.idle}
	defer f.tunnels.add(t)()
	t.run()
}
