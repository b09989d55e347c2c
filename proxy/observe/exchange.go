package observe

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// exchange is everything about one request, in a single allocation. It is not pooled: a handler may have
// left a goroutine behind that still holds the record, the writer or the body, and must not find itself
// writing into the next request.
type exchange struct {
	observer            *Observer
	record              Record
	writer              responseWriter
	body                countedBody
	context             recordContext
	started             time.Time
	elapsed             time.Duration
	tunnelIn, tunnelOut int64
	line                [1]zap.Field

	returned bool          // false at the end means that the handler panicked
	left     chan struct{} // closed when the handler has returned from what goes on without it; else nil

	// Taken before the handler runs, for it may edit the header map that all copies of the request share.
	method, host, uri, proto, client, userAgent, referer string
}

func (o *Observer) begin(w http.ResponseWriter, r *http.Request) *exchange {
	o.metrics.inFlight.Inc()
	x := &exchange{
		observer:  o,
		started:   time.Now(),
		method:    r.Method,
		host:      r.Host,
		uri:       r.RequestURI,
		proto:     r.Proto,
		client:    hostOf(r.RemoteAddr),
		userAgent: first(r.Header["User-Agent"]),
		referer:   first(r.Header["Referer"]),
	}
	x.record.ID = o.requestID(r)
	x.writer = responseWriter{ResponseWriter: w, bodyless: r.Method == http.MethodHead}
	return x
}

// request returns the copy of r that the handler sees: with the record in its context and a body that counts.
func (x *exchange) request(r *http.Request) *http.Request {
	x.context = recordContext{Context: r.Context(), exchange: x}
	seen := r.WithContext(&x.context)
	if r.Body != nil && r.Body != http.NoBody {
		x.body.ReadCloser = r.Body
		seen.Body = &x.body
	}
	return seen
}

func (o *Observer) end(x *exchange) {
	x.elapsed = time.Since(x.started)
	o.metrics.inFlight.Dec()
	o.metrics.observe(x)
	if c := o.log.Check(zap.InfoLevel, "request"); c != nil {
		// One field that describes itself, so that no slice of two dozen fields is made for each request.
		x.line[0] = zap.Inline(x)
		c.Write(x.line[:]...)
	}
}

// status is what the client was told, or what the record says instead. Zero means that it was told nothing.
func (x *exchange) status() int {
	switch {
	case x.record.Status != 0:
		return x.record.Status
	case x.writer.status == 0 && x.returned:
		return http.StatusOK // net/http sends it for a handler that wrote nothing
	default:
		return x.writer.status
	}
}

func (x *exchange) bytesIn() int64  { return x.body.read.Load() + x.tunnelIn }
func (x *exchange) bytesOut() int64 { return x.writer.written + x.tunnelOut }

// recordContext is context.WithValue without its allocation.
type recordContext struct {
	context.Context
	exchange *exchange
}

func (c *recordContext) Value(key any) any {
	switch key {
	case recordKey{}:
		return &c.exchange.record
	case exchangeKey{}:
		return c.exchange
	}
	return c.Context.Value(key)
}

// countedBody counts what was read. A transport may read on in a goroutine of its own after the handler
// has returned, hence the atomic.
type countedBody struct {
	io.ReadCloser
	read atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}

func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr // a unix socket has no port
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
