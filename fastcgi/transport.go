// Package fastcgi is a FastCGI client as an http.RoundTripper, made for PHP-FPM.
//
// What FPM does decides what this package does. A connection is a worker from accept to close, and serves one
// request at a time. A params record that splits a pair resets the connection. Fewer bytes of STDIN than
// CONTENT_LENGTH promises make PHP wait for ever, and closing the connection instead makes it run the script with
// what it has. A script whose client has left runs on. Overload shows only as a full backlog.
package fastcgi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/yookoala/gofast"
)

// Config says how to reach one backend. A zero field means its default.
type Config struct {
	Network, Address string // "unix" and a path, or "tcp" and host:port

	// MaxIdle limits the connections kept for later requests. Zero keeps none: each request has a fresh
	// connection, which is closed at END_REQUEST. FPM gives a connection its worker from accept to close, so
	// MaxIdle must stay below pm.max_children.
	MaxIdle     int
	IdleTimeout time.Duration // of a kept connection; 30 s

	DialTimeout         time.Duration // 3 s
	FirstByteTimeout    time.Duration // from the request sent to the first byte of an answer; 60 s
	BetweenBytesTimeout time.Duration // of silence after that; 60 s
	WriteTimeout        time.Duration // for each piece of the request; 60 s

	// MaxHeaderBytes limits the CGI response header, all lines together, in bytes. Zero means 64 KiB.
	// Beyond it RoundTrip returns an *Error wrapping ErrHeaderTooLarge.
	MaxHeaderBytes int

	// Middleware sees the params after they were mapped from the request and before Env.Params are set.
	// Its client's Do may be called once, and returns a nil *gofast.ResponsePipe.
	Middleware []gofast.Middleware
}

// Transport speaks FastCGI to one backend. It implements http.RoundTripper.
type Transport struct {
	cfg       Config
	dialer    *dialer
	session   *session
	idle      idlePool
	lingering lingerers
}

// New returns a Transport for the backend that cfg names.
func New(cfg Config) (*Transport, error) {
	cfg.IdleTimeout = cmp.Or(cfg.IdleTimeout, 30*time.Second)
	cfg.DialTimeout = cmp.Or(cfg.DialTimeout, 3*time.Second)
	cfg.FirstByteTimeout = cmp.Or(cfg.FirstByteTimeout, time.Minute)
	cfg.BetweenBytesTimeout = cmp.Or(cfg.BetweenBytesTimeout, time.Minute)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, time.Minute)
	cfg.MaxHeaderBytes = cmp.Or(cfg.MaxHeaderBytes, 64<<10)
	d, err := newDialer(cfg.Network, cfg.Address, cfg.DialTimeout)
	if err != nil {
		return nil, fmt.Errorf("fastcgi: backend %q: %w", cfg.Address, err)
	}
	return &Transport{
		cfg:     cfg,
		dialer:  d,
		session: newSession(cfg.Middleware),
		idle:    idlePool{max: cfg.MaxIdle, timeout: cfg.IdleTimeout},
	}, nil
}

// RoundTrip sends r, whose context carries an Env and whose ContentLength is exact, and returns the answer. The
// response's Body fails with an *Error wrapping io.ErrUnexpectedEOF when the answer is cut short.
//
// r.Body may be read after RoundTrip has returned, until it is closed. When the context ends while a large body is
// being sent, the rest is still sent: FPM would run the script with less. So its Read must not wait for a client.
//
// Every error is an *Error. It and the Body of a response have a method Released() <-chan struct{}: FPM goes on
// with a script that nobody waits for any more, so a worker may be busy until that channel is closed.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := t.newCall(r)
	if err != nil {
		closeBody(r)
		return nil, &Error{Op: "params", Addr: t.cfg.Address, Err: err}
	}
	err = t.session.run(c)
	if !c.done {
		closeBody(r)
	}
	if err == nil && c.response.Body == nil {
		err = errors.New("gofast middleware did not call Do")
	}
	if err == nil {
		return &c.response, nil
	}
	if c.response.Body != nil {
		c.response.Body.Close()
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, e
	}
	return nil, c.error("params", err)
}

func (t *Transport) newCall(r *http.Request) (*call, error) {
	ctx := r.Context()
	c := &call{t: t, req: r, ctx: ctx, env: envFrom(ctx), trace: httptrace.ContextClientTrace(ctx)}
	switch {
	case c.env == nil:
		return nil, ErrNoEnv
	case r.ContentLength < 0:
		return nil, ErrLengthRequired
	case r.ContentLength > 0 && r.Body == nil:
		return nil, ErrRequestBody
	}
	return c, ctx.Err()
}

// connect takes an idle connection that still stands, or dials.
func (t *Transport) connect(ctx context.Context, trace *httptrace.ClientTrace) (*conn, error) {
	if t.lingering.isClosed() {
		return nil, ErrClosed
	}
	if c := t.idle.take(); c != nil {
		return c, nil
	}
	c, err := t.dialer.dial(ctx, trace)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, err
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() { t.idle.clear() }

// Close closes what is idle, and ends the waiting for workers of abandoned requests. Requests under way go on, new
// ones fail with ErrClosed.
func (t *Transport) Close() {
	t.idle.close()
	t.lingering.close()
}
