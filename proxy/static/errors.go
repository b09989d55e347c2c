package static

import "errors"

// The errors of Serve wrap one of these when the request, and not the file system, is the reason.
var (
	// ErrBadPath means that no client has a reason to ask for such a path: it holds NUL or control bytes.
	ErrBadPath = errors.New("bad path")
	// ErrRefused means that the path is never served: a dot segment, a PHP source, a link that leads out of the
	// release, something that is not a file, or a file that may not be read.
	ErrRefused = errors.New("refused")
	// ErrMissing means that the path can only be that of a built asset, and there is none.
	ErrMissing = errors.New("no such asset")
	// ErrTruncated comes with Aborted: the file became shorter while it was being sent.
	ErrTruncated = errors.New("file was truncated while it was sent")
)
