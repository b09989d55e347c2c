package observe

import (
	"context"
	"time"
)

// Record is what one request leaves behind. Wrap makes it, the layers inside fill what they know, and
// the access line and the metrics are written from it after the handler has returned. It belongs to the
// goroutine that serves the request: work that outlives the handler must copy what it needs first.
type Record struct {
	ID         string // request id: 32 hexadecimal digits, or the trusted X-Request-Id
	ClientAddr string // address of the client behind trusted proxies; empty means that of the connection
	Site       string // name of the site from the configuration
	Variant    string // arm of the split from the configuration
	Release    string // the public folder that the request is answered from, links resolved; not in the line

	Upstream string // name of the group from the configuration
	Backend  string // address of the backend that answered, or that failed last
	Attempts int    // tries made, the last one included; zero means that no upstream was asked
	Reused   bool   // whether the last attempt went over a kept connection

	Queue     time.Duration // waited for a place at a backend
	Dial      time.Duration // connecting
	FirstByte time.Duration // from the request sent to the first byte of the answer
	Body      time.Duration // from the first byte of the answer to its end

	Status    int      // overrides the status that was sent, as 499 does; zero means the one sent
	Static    bool     // answered from the public folder
	Truncated bool     // the answer ended before the backend said so
	Stderr    []string // lines the application wrote to STDERR
	Note      string   // one constant word or phrase on how the request was answered
	Err       error    // why it failed
}

type recordKey struct{}

// FromContext returns the record of the request that ctx belongs to. Outside of Wrap it returns an empty
// record that nobody reads, so that a layer works alone; it is never nil.
func FromContext(ctx context.Context) *Record {
	if rec, ok := ctx.Value(recordKey{}).(*Record); ok {
		return rec
	}
	return new(Record)
}

// WithRecord returns a context whose record is rec, for work that does not come through Wrap.
func WithRecord(ctx context.Context, rec *Record) context.Context {
	return context.WithValue(ctx, recordKey{}, rec)
}
