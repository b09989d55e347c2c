package upstream

import (
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// probe watches one attempt through the hooks of httptrace. Hooks that were set before are called as well:
// httptrace sees to that. Some transports call hooks from goroutines of theirs, even after they have returned,
// so its fields are atomic and no two attempts share one.
type probe struct {
	hooks  httptrace.ClientTrace
	begun  time.Time
	got    atomic.Int64 // when there was a connection, in nanoseconds since begun; zero: never
	first  atomic.Int64 // when there was a byte of an answer
	reused atomic.Bool
	tell   func(net.Conn, bool) // may be nil
}

func (p *probe) start() *httptrace.ClientTrace {
	p.begun = time.Now()
	p.hooks.GotConn = p.gotConn
	p.hooks.GotFirstResponseByte = p.gotFirstByte
	return &p.hooks
}

// A time of zero means never, so the least that is stored is one.

func (p *probe) gotConn(info httptrace.GotConnInfo) {
	p.reused.Store(info.Reused)
	p.got.Store(max(1, int64(time.Since(p.begun))))
	if p.tell != nil {
		p.tell(info.Conn, info.Reused)
	}
}

func (p *probe) gotFirstByte() { p.first.Store(max(1, int64(time.Since(p.begun)))) }

// connected reports whether the request may have been sent.
func (p *probe) connected() bool { return p.got.Load() > 0 }

// answered reports whether any byte of an answer came.
func (p *probe) answered() bool { return p.first.Load() > 0 }

// times returns how long the dial took, and the wait for the first byte after it.
func (p *probe) times() (dial, first time.Duration) {
	got := time.Duration(p.got.Load())
	if !p.reused.Load() {
		dial = got
	}
	if p.answered() {
		first = time.Duration(p.first.Load()) - got
	}
	return dial, first
}
