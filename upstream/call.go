package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"gateway/upstream/spool"
)

// call is one request on its way through a group, from its first byte to the last of its response. All of it
// is one allocation.
type call struct {
	g       *Group
	in      *http.Request
	trace   *Trace // nil when nobody asked
	upgrade bool
	single  bool // never to be sent twice
	resent  bool
	left    bool // what the request holds is another group's now

	failure *Error // of the attempt before, for trace

	body   *kept // nil when there is none
	length int64 // of the body

	waiter waiter
	rounds *rounds // nil before a dial has failed

	probe  probe  // of the first attempt; the rare later ones have their own
	answer answer // its body, when it comes to one
}

func newCall(g *Group, r *http.Request) *call {
	ctx := r.Context()
	c := &call{g: g, in: r, upgrade: isUpgrade(r)}
	c.trace, _ = ctx.Value(traceKey{}).(*Trace)
	c.single, _ = ctx.Value(onceKey{}).(bool)
	c.waiter.leaves, _ = ctx.Value(fallbackKey{}).(bool)
	if g.cfg.HashKey != nil {
		c.waiter.key = g.key(r)
	}
	return c
}

// key is asked for before anything is locked: what it calls belongs to others.
func (g *Group) key(r *http.Request) uint64 {
	if key := g.cfg.HashKey(r); key != "" {
		return hash64(key)
	}
	return mix(uint64(g.cfg.rand(1 << 30)))
}

// isUpgrade reports whether r asks to turn the connection into something else. What its client sends then is no
// body but a conversation, so there is nothing to wait for the end of and nothing that could be said twice.
func isUpgrade(r *http.Request) bool {
	if r.Method == http.MethodConnect {
		return true
	}
	if r.Header.Get("Upgrade") == "" {
		return false
	}
	for _, line := range r.Header["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return true
			}
		}
	}
	return false
}

// readBody takes the body off the client before anything of the backend's is taken: a slow upload costs no
// worker, one that breaks off runs no script, and what was read can be sent again.
func (c *call) readBody() error {
	if c.upgrade {
		c.length = c.in.ContentLength
		return nil
	}
	if u, ok := c.in.Body.(*unsent); ok {
		c.body, c.resent = u.take(), u.resent
		c.measure(time.Now())
		return nil
	}
	if c.in.Body == nil || c.in.Body == http.NoBody {
		return nil
	}
	begun := time.Now()
	s := spool.New(spool.Config{Memory: c.g.cfg.SpoolMemory, Dir: c.g.cfg.SpoolDir, Budget: c.g.cfg.SpoolBudget})
	length, err := s.ReadFrom(c.in.Body)
	c.in.Body.Close()
	if err == nil && c.in.ContentLength > 0 && length != c.in.ContentLength {
		// net/http's server would have said so itself, but not everyone who makes a request does.
		err = io.ErrUnexpectedEOF
	}
	s.CloseWrite(nil)
	c.body = keep(s)
	c.measure(begun)
	if err != nil {
		c.end()
		return c.spoolError(err)
	}
	return nil
}

// measure looks at the body, which is there since begun. One that is empty is none.
func (c *call) measure(begun time.Time) {
	if c.body != nil {
		c.length = c.body.Len()
	}
	if t := c.trace; t != nil {
		t.Spool, t.BodyBytes = time.Since(begun), c.length
	}
	if c.body != nil && c.length == 0 {
		c.body.letGo()
		c.body = nil
	}
}

// spoolError blames the client for all but our own disk: what else can fail is its connection, its framing or
// its patience with a limit.
func (c *call) spoolError(err error) *Error {
	e := &Error{Op: "spool", Group: c.g.cfg.Name, Blame: Client, Err: err}
	var disk *spool.Error
	if errors.As(err, &disk) {
		e.Blame, e.later = Gateway, disk.RetryAfter()
	}
	return e
}

// run takes slots and makes attempts until one succeeds or none may follow.
func (c *call) run() (*http.Response, error) {
	ctx := c.in.Context()
	waiting := time.Now()
	c.waiter.arrived = waiting
	c.waiter.deadline = waiting.Add(c.g.cfg.QueueWait)
	b, err := c.g.acquire(ctx, &c.waiter)
	for p := &c.probe; err == nil; p = new(probe) {
		c.waited(waiting)
		resp, failure := c.attempt(ctx, b, p)
		if failure == nil {
			return resp, nil
		}
		waiting = time.Now()
		b, err = c.next(ctx, b, p, failure)
	}
	c.waited(waiting)
	return nil, err
}

func (c *call) waited(since time.Time) {
	if c.trace != nil {
		c.trace.Queue += time.Since(since)
	}
}

// attempt sends the request to b. When it fails, the slot is still taken; when it panics, it is not.
func (c *call) attempt(ctx context.Context, b *backend, p *probe) (*http.Response, error) {
	returned := false
	defer func() {
		if !returned {
			c.g.release(b)
		}
	}()
	// A shallow copy will do: the header is not touched here, and a transport may not touch it.
	hooks := p.start()
	if c.trace != nil {
		hooks.Got1xxResponse, p.tell = c.trace.Informational, c.trace.Connected
	}
	out := c.in.WithContext(httptrace.WithClientTrace(ctx, hooks))
	out.TransferEncoding, out.Trailer = nil, nil
	c.giveBody(out)
	resp, err := b.Transport.RoundTrip(out)
	c.note(b, p)
	if err == nil {
		b.served.Add(1)
		c.g.answered(b, p.begun)
		resp.Request = c.in
		resp.Body = c.hold(b, resp)
	}
	returned = true
	return resp, err
}

// giveBody lets out read the body from its beginning. The reader costs nothing, so every attempt has its own:
// a transport may still be reading the one before.
func (c *call) giveBody(out *http.Request) {
	out.ContentLength = c.length
	switch {
	case c.upgrade && c.in.Body != nil:
		// After a failed dial it has not been read, and must not be closed.
		out.Body, out.GetBody = io.NopCloser(c.in.Body), nil
	case c.body == nil:
		out.Body, out.GetBody = http.NoBody, nil
	default:
		out.Body = c.body.replay()
		out.GetBody = func() (io.ReadCloser, error) { return c.body.replay(), nil }
	}
}

// note keeps what the probe saw for whoever asked.
func (c *call) note(b *backend, p *probe) {
	if t := c.trace; t != nil {
		if c.failure != nil {
			t.Failures = append(t.Failures, c.failure)
		}
		t.Attempts++
		t.Backend, t.Reused = b.Addr, p.reused.Load()
		t.Dial, t.FirstByte = p.times()
	}
}

// end frees what the request itself holds. A transport may still be sending the body: one that stopped half-way
// when its client left would make PHP run the script with what it had.
func (c *call) end() {
	if c.left {
		return
	}
	if c.body != nil {
		c.body.letGo()
	}
	if c.upgrade && c.in.Body != nil {
		c.in.Body.Close()
	}
}
