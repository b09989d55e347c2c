// Package load puts load on one arm for one block of time and reports everything that happened, in numbers that add up:
// every request that was issued was good, bad, hung or failed.
package load

import (
	"context"
	"net/http"
	"time"
)

// Request is one request of a workload. It is the same for every arm, shared, and not to be changed.
type Request struct {
	Route  int // which route of the workload, from 0 on
	Method string
	Target string // in origin form
	Host   string
	Header http.Header // canonical names, without Host and Content-Length
	Body   []byte
	User   int // which virtual user asks; -1 is nobody in particular
}

// Source gives the requests of a block one after the other. Two sources that were made with one seed give the same. Next
// is not called concurrently.
type Source interface{ Next() *Request }

// Arm is one side of a bench. Send sends r once, whatever happens to it, follows no redirect, reads the whole answer into a,
// and returns an error when there is no whole answer. It is called concurrently.
type Arm interface {
	Send(ctx context.Context, r *Request, a *Answer) error
}

// bodyKept is how much of a body is kept, in bytes.
const bodyKept = 1 << 20

// Answer is what came back. The engine uses one again for other requests, so that nothing of it may be kept.
type Answer struct {
	Status int
	Header http.Header
	Size   int64 // of the whole body, in bytes
	Sum    uint64
	// Body is the body's first MiB where KeepBody was set before, else empty.
	Body     []byte
	KeepBody bool
	// Conn tells connections apart; 0 is one that is not known.
	Conn   uint64
	Reused bool
	// Wrote is when the first byte of the request was written, FirstByte when the answer began and End when it was whole.
	// One that is zero is not known.
	Wrote, FirstByte, End time.Time

	attended attended
}

// reset makes a ready for another request.
func (a *Answer) reset() {
	*a = Answer{Body: a.Body[:0], attended: a.attended}
}

// Fault is what is wrong with an answer that came whole.
type Fault int

// The faults, in the order in which a judge looks for them.
const (
	None      Fault = iota
	Throttled       // 429, or 503 with Retry-After
	Expired         // 419: the session or the token is not valid
	Login           // a redirect to where one logs in
	Status          // another status than the learnt one
	Size            // a size outside the learnt band
	Body            // other content
)

var faultNames = [...]string{"none", "throttled", "expired", "login", "status", "size", "body"}

func (f Fault) String() string { return faultNames[f] }

// Judge says whether an answer is the one that was learnt for its request. It is called concurrently, within the time of
// the measurement, and must be quick.
type Judge interface {
	Judge(r *Request, a *Answer) Fault
}
