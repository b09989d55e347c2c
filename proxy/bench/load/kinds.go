package load

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Local is the kind of an error that is this machine's and says nothing of the arm.
const Local = "local"

// kindOf names what went wrong, in few words, so that it can be counted.
func kindOf(err error) string {
	var timeout interface{ Timeout() bool }
	var busy interface{ Busy() bool }
	var later interface{ RetryAfter() time.Duration }
	switch {
	case isAny(err, syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM):
		return Local
	case errors.Is(err, errDeadline):
		return "deadline"
	case errors.As(err, &busy) && busy.Busy(), errors.As(err, &later) && later.RetryAfter() > 0:
		return "busy" // a full queue, here or there
	case isAny(err, syscall.ECONNREFUSED, syscall.ENOENT):
		return "refused"
	case isAny(err, syscall.ECONNRESET, syscall.EPIPE):
		return "reset"
	case isAny(err, io.ErrUnexpectedEOF, io.EOF):
		return "truncated"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "other"
}

func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
