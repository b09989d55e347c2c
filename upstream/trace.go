package upstream

import (
	"context"
	"net"
	"net/textproto"
	"time"
)

// Trace is what became of a request. It is filled while the request is under way: read it after RoundTrip has
// returned.
type Trace struct {
	Backend  string // the address that was tried last
	Attempts int    // how often the request was sent, or a dial for it failed
	Reused   bool   // the last attempt went over a kept connection

	Spool     time.Duration // reading the client's body
	Queue     time.Duration // waiting for a slot, and between attempts
	Dial      time.Duration // of the last attempt; zero on a kept connection
	FirstByte time.Duration // from the last attempt's connection to the first byte of its answer

	// Informational is called with each informational answer (1xx) of the backend, in the order in which they come;
	// its error ends the request. Nil ignores them.
	Informational func(code int, header textproto.MIMEHeader) error

	// Connected is called with the connection of each attempt, and whether it was a kept one. Nil ignores it.
	Connected func(conn net.Conn, reused bool)

	BodyBytes int64   // length of the request body
	Failures  []error // of the attempts before the last, oldest first; each is an *Error
}

type traceKey struct{}

// WithTrace returns a context whose request fills t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

type onceKey struct{}

// WithoutRetry returns a context whose request is tried once, whatever happens. Copies of live traffic and
// measurements ask for it: a retry would be traffic that no client sent.
func WithoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, true)
}

type fallbackKey struct{}

// WithFallback returns a context for a request that need not wait for a group of which no backend can be reached,
// since there is another to send it to. RoundTrip then returns an error at once that wraps ErrUnreachable, and
// Elsewhere makes of it the request for the other group.
func WithFallback(ctx context.Context) context.Context {
	return context.WithValue(ctx, fallbackKey{}, true)
}
