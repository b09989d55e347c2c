package fastcgi

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// The faults that a caller may want to tell apart. RoundTrip and Body.Read wrap them in an *Error.
var (
	// ErrTruncated is a response that ended without END_REQUEST. It wraps io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("response ended without END_REQUEST: %w", io.ErrUnexpectedEOF)
	// ErrBodyLength is a response body longer or shorter than its Content-Length. It wraps io.ErrUnexpectedEOF.
	ErrBodyLength = fmt.Errorf("response body does not match its Content-Length: %w", io.ErrUnexpectedEOF)
	// ErrHeaderTooLarge is a response header beyond Config.MaxHeaderBytes.
	ErrHeaderTooLarge = errors.New("response header too large")
	// ErrMalformedHeader is a response that does not begin with a header; its first bytes follow in the message.
	ErrMalformedHeader = errors.New("malformed response header")
	// ErrProtocol is a record that has no place in a response.
	ErrProtocol = errors.New("unexpected record")
	// ErrParamsTooLarge is a request whose params exceed 1 MiB together or 65,528 bytes in one pair.
	ErrParamsTooLarge = errors.New("params too large")
	// ErrLengthRequired is a request body of unknown length, which PHP would not read.
	ErrLengthRequired = errors.New("request body of unknown length")
	// ErrRequestBody is a request body that failed, or ended before its ContentLength.
	ErrRequestBody = errors.New("request body")
	// ErrOverloaded is a responder that refused the request because it has too many.
	ErrOverloaded = errors.New("responder is overloaded")
	// ErrRefused is a responder that refused the request for another reason.
	ErrRefused = errors.New("responder refused the request")
	// ErrClosed is a request to a Transport after Close.
	ErrClosed = errors.New("transport is closed")
	// ErrNoEnv is a request whose context has no Env.
	ErrNoEnv = errors.New("no Env in the request's context")
)

// Error is what went wrong between this transport and its backend.
type Error struct {
	Op   string // what was being done: "params", "dial", "write", "read", "refused"
	Addr string // the backend's address
	Err  error  // never nil

	safe     bool // nothing of the request can have reached a script
	reused   bool // on a connection that had served before
	released <-chan struct{}
}

// Error names the operation, the backend and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("fastcgi: %s %s: %v", e.Op, e.Addr, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a deadline passed. A full backlog is none, though its errno says so.
func (e *Error) Timeout() bool { return isTimeout(e.Err) && !e.Busy() }

// SafeToRetry reports whether nothing of the request can have reached a script: the dial failed, the
// responder refused the request, or the connection broke before the params were sent.
func (e *Error) SafeToRetry() bool { return e.safe }

// Busy reports whether the backend is there but takes no more: its backlog is full or it says so.
func (e *Error) Busy() bool {
	return e.Op == "dial" && errors.Is(e.Err, syscall.EAGAIN) || errors.Is(e.Err, ErrOverloaded)
}

// Reused reports whether the request went over a connection that had served another before.
func (e *Error) Reused() bool { return e.reused }

// Released is closed once the worker that had the request is known to be free, or cannot be waited for any
// longer. PHP goes on with a script after its client has left, so that may be long after the error.
func (e *Error) Released() <-chan struct{} {
	if e.released == nil {
		return released
	}
	return e.released
}

// released is the channel of everything that holds no worker.
var released = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// truncated is err of a read that gave nothing: EOF and resets have one meaning before END_REQUEST.
func truncated(err error) error {
	switch {
	case err == nil:
		return io.ErrNoProgress
	case err == io.EOF:
		return ErrTruncated
	case errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// timeoutError is a deadline of ours that passed, in words.
type timeoutError struct{ what string }

func (e *timeoutError) Error() string { return e.what }
func (e *timeoutError) Timeout() bool { return true }
