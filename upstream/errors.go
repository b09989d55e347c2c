package upstream

import (
	"errors"
	"strings"
	"syscall"
	"time"
)

// What a Group itself can say about a request that it could not carry. They come wrapped in an *Error.
var (
	// ErrNoBackend says that a group has nothing to send to. New returns it.
	ErrNoBackend = errors.New("no backend")
	// ErrQueueFull says that every slot was taken and so was every place in the queue.
	ErrQueueFull = errors.New("queue is full")
	// ErrQueueTimeout says that no backend took the request within Config.QueueWait.
	ErrQueueTimeout = errors.New("no backend was free in time")
	// ErrUnreachable says that every backend refuses connections or fails, and the last cause of that.
	ErrUnreachable = errors.New("no backend can be reached")
)

// What an HTTP backend did wrong, or was asked wrongly. They come wrapped in an *Error.
var (
	// ErrHeaderTooLarge says that a response head was longer than HTTPConfig.MaxHeaderBytes.
	ErrHeaderTooLarge = errors.New("response header is too large")
	// ErrUnexpectedUpgrade says that a backend switched protocols without being asked to.
	ErrUnexpectedUpgrade = errors.New("backend switched protocols unasked")
	// ErrLengthRequired says that a request has a body of unknown length.
	ErrLengthRequired = errors.New("request body has no length")
	// ErrBadRequest says that a request cannot be written as HTTP/1.1.
	ErrBadRequest = errors.New("request cannot be written")
)

// Blame says whose failure an Error is.
type Blame uint8

// The zero Blame is the backend's.
const (
	Backend Blame = iota // it refused, broke off, or was too slow
	Client               // it left, or its body could not be read
	Gateway              // ours: no room, no disk
)

// String returns the word for logs.
func (b Blame) String() string {
	return [...]string{"backend", "client", "gateway"}[b]
}

// Error is a request that was not carried to its end.
type Error struct {
	Op      string // what was being done: spool, queue, dial, send, read head, read body
	Group   string // Config.Name, or empty from a transport of its own
	Backend string // its address, or empty when none was chosen
	Blame   Blame
	Err     error

	safe  bool          // nothing of the request was sent
	later time.Duration // what RetryAfter returns
	hint  string        // what can be done about it; may be empty

	elsewhere bool    // another group may have the request
	unsent    *unsent // and this is its body; nil for an upgrade, whose body nobody has touched
}

// Error reads like: upstream octane: 127.0.0.1:8000: dial: connection refused.
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Group, e.Backend, e.Op} {
		if part == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("upstream ")
		}
		b.WriteString(part)
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	if e.hint != "" {
		b.WriteString("; ")
		b.WriteString(e.hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a deadline passed while a backend was to answer. Waiting in the queue does not count,
// nor does a full backlog, which the system calls a timeout too.
func (e *Error) Timeout() bool {
	if e.later > 0 || e.Busy() {
		return false
	}
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// SafeToRetry reports whether nothing of the request can have reached the application.
func (e *Error) SafeToRetry() bool { return e.safe }

// Busy reports whether the backend is there but its backlog is full.
func (e *Error) Busy() bool {
	var b interface{ Busy() bool }
	if errors.As(e.Err, &b) {
		return b.Busy()
	}
	return errors.Is(e.Err, syscall.EAGAIN)
}

// RetryAfter returns when the client may try again, after ErrQueueFull, ErrQueueTimeout and
// where a body found no room. Otherwise it is zero.
func (e *Error) RetryAfter() time.Duration { return e.later }
