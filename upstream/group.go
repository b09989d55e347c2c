package upstream

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Group is an http.RoundTripper over several backends. Whatever it returns, the body of the request has been
// closed; the slot that a response holds is free once its body has been read to the end or closed.
type Group struct {
	cfg      Config
	policy   policy
	backends []*backend

	mu       sync.Mutex // guards all below, the policy, and the changing part of every backend
	queue    queue
	free     []*backend // scratch for claim
	inFlight int        // slots taken, of all backends
	paused   int        // of those, the ones that wait to dial again
	drained  chan struct{}
	quiet    bool        // drained is closed
	cause    *Error      // of the last failure of a backend
	retry    time.Time   // when a deaf group is worth a try again
	timer    *time.Timer // runs expire; nil before anybody has waited
	expiry   time.Time   // when; zero while it is not set
}

// backend is one backend and what the group knows about it.
type backend struct {
	BackendConfig
	index int
	seed  uint64 // its place for the hash policy

	served, failed atomic.Uint64

	inFlight int
	failures []time.Time // within the window, oldest first
	row      int         // failures without an answer in between

	servedBefore uint64 // served at the last failure

	ejected time.Time   // until when it is out; zero when it is in
	down    bool        // it is in but does not answer, and would be out if it were not the last
	since   time.Time   // of either
	ailing  atomic.Bool // either
}

// BackendStatus is a backend at one moment.
type BackendStatus struct {
	Addr        string    `json:"addr"`
	InFlight    int       `json:"in_flight"`
	MaxInFlight int       `json:"max_in_flight"`          // zero means no cap
	Ejected     time.Time `json:"ejected_until,omitzero"` // until when it gets no requests; zero when it does
	Down        time.Time `json:"down_since,omitzero"`    // since when it fails without an answer, but is tried as the last there is; else zero
	Failures    int       `json:"failures"`               // of late, as ejection counts them
	Served      uint64    `json:"served"`                 // responses that it began since the start
	Failed      uint64    `json:"failed"`                 // attempts that were its failure since the start
}

// New checks cfg and returns its group.
func New(cfg Config) (*Group, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	policy, err := newPolicy(&cfg)
	if err != nil {
		return nil, err
	}
	g := &Group{cfg: cfg, policy: policy}
	for i, b := range cfg.Backends {
		g.backends = append(g.backends, &backend{BackendConfig: b, index: i, seed: hash64(b.Addr)})
	}
	g.free = make([]*backend, 0, len(g.backends))
	return g, nil
}

// RoundTrip reads r's body to its end, waits for a slot, sends, and sends again where that is safe. It
// returns once a backend has answered with a head, or an *Error.
//
// An upgrade (Connection: upgrade with an Upgrade header, or CONNECT) is passed on with its body unread and is
// not sent twice. The body of its 101 is an io.ReadWriteCloser, which holds the slot until it is closed.
func (g *Group) RoundTrip(r *http.Request) (*http.Response, error) {
	c := newCall(g, r)
	if err := c.readBody(); err != nil {
		return nil, err
	}
	// From here on the body of the response owns the call, unless there is none, be it for a panic.
	done := false
	defer func() {
		if !done {
			c.end()
		}
	}()
	resp, err := c.run()
	done = err == nil
	if !done {
		c.mayLeave(err)
	}
	return resp, err
}

// Status returns every backend as it is now, in the order of the configuration.
func (g *Group) Status() []BackendStatus {
	all := make([]BackendStatus, 0, len(g.backends))
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.backends {
		b.forget(time.Now().Add(-g.cfg.EjectWindow))
		status := BackendStatus{
			Addr: b.Addr, InFlight: b.inFlight, MaxInFlight: b.MaxInFlight,
			Ejected: b.ejected, Failures: len(b.failures),
			Served: b.served.Load(), Failed: b.failed.Load(),
		}
		if b.down {
			status.Down = b.since
		}
		all = append(all, status)
	}
	return all
}

// Queued returns how many requests wait now, for a slot or for a backend that can be reached.
func (g *Group) Queued() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.length + g.paused
}

// Close waits until nothing is in flight or queued, at most as long as ctx, and closes kept connections as
// soon as that is so, even after it has returned. Requests that still arrive are carried as ever, so that a
// reload fails none. The error is that of ctx.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	if g.drained == nil {
		g.drained = make(chan struct{})
	}
	rest := g.rest()
	g.mu.Unlock()
	g.settle(rest)
	select {
	case <-g.drained:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rest reports whether a group that drains has nothing left to do. The caller holds the lock, and calls settle
// with the answer once it does not.
func (g *Group) rest() bool {
	if g.drained == nil || g.inFlight > 0 || g.queue.length > 0 {
		return false
	}
	if !g.quiet {
		g.quiet = true
		close(g.drained)
	}
	return true
}

func (g *Group) settle(rest bool) {
	if rest {
		for _, b := range g.backends {
			b.closeIdle()
		}
	}
}

func (b *backend) closeIdle() {
	if t, ok := b.Transport.(interface{ CloseIdle() }); ok {
		t.CloseIdle()
	}
}
