package http1

import (
	"fmt"
	"net/http"
)

// Error is a request that cannot be taken as what it is meant to be, and the status that says so.
type Error struct {
	Status int
	Reason string // what is wrong, without any of the client's bytes
}

func (e *Error) Error() string { return e.Reason }

func malformed(reason string) *Error { return &Error{Status: http.StatusBadRequest, Reason: reason} }

// The faults of a head that have no words of their own at the place where they are found.
var (
	errBareLF      = malformed("a line of the head ends in LF alone")
	errHeadTooLong = &Error{http.StatusRequestHeaderFieldsTooLarge, "the head is larger than limits.header_bytes"}
	errTooManyLine = &Error{http.StatusRequestHeaderFieldsTooLarge, "the head has more fields than limits.header_lines"}
	errRequestLine = malformed("the request line is not METHOD TARGET HTTP/1.1")
	errVersion     = &Error{http.StatusHTTPVersionNotSupported, "the version is not HTTP/1"}
	errCoding      = &Error{http.StatusNotImplemented, "the Transfer-Encoding is not chunked"}
	errExpectation = &Error{http.StatusExpectationFailed, "the Expect is not 100-continue"}
)

// BodyError is a body whose framing is broken. Nothing that follows it on its connection can be told from it.
type BodyError struct{ Reason string }

func (e *BodyError) Error() string {
	return fmt.Sprintf("the body's chunks are malformed: %s", e.Reason)
}
