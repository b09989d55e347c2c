package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// HTTPConfig describes how to reach one backend that speaks HTTP/1.1. A zero field means the default that it
// names.
type HTTPConfig struct {
	// Address is "host:port" or "unix:path".
	Address string
	// MaxIdle is how many unused connections are kept. Zero means 64, below zero none.
	MaxIdle int
	// IdleTimeout is how long an unused connection is kept. Zero means 30 s; it belongs below the backend's own.
	IdleTimeout time.Duration
	// DialTimeout limits making a connection (3 s), FirstByteTimeout the wait for a response (60 s),
	// BetweenBytesTimeout each pause within one (60 s), WriteTimeout each pause in sending (60 s).
	DialTimeout, FirstByteTimeout, BetweenBytesTimeout, WriteTimeout time.Duration
	// MaxHeaderBytes limits a response head, interim ones before it included. Zero means 64 KiB. Beyond it
	// RoundTrip returns an *Error wrapping ErrHeaderTooLarge.
	MaxHeaderBytes int
}

// HTTP sends requests to one backend over HTTP/1.1 and keeps its connections. It implements http.RoundTripper,
// and differs from http.Transport in what a gateway needs: it repeats nothing on its own, holds no goroutine
// per connection, sends the request target byte for byte, and limits the pauses within a response.
type HTTP struct {
	cfg     HTTPConfig
	network string
	address string
	dialer  net.Dialer

	mu     sync.Mutex // guards all below
	idle   []*conn    // the longest unused first
	expiry *time.Timer
	closed bool
}

// NewHTTP checks cfg and returns its transport.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	orDefault(&cfg.MaxIdle, 64)
	orDefault(&cfg.IdleTimeout, 30*time.Second)
	orDefault(&cfg.DialTimeout, 3*time.Second)
	orDefault(&cfg.FirstByteTimeout, time.Minute)
	orDefault(&cfg.BetweenBytesTimeout, time.Minute)
	orDefault(&cfg.WriteTimeout, time.Minute)
	orDefault(&cfg.MaxHeaderBytes, 64<<10)
	h := &HTTP{cfg: cfg, network: "tcp", address: cfg.Address, dialer: net.Dialer{Timeout: cfg.DialTimeout}}
	if path, ok := strings.CutPrefix(cfg.Address, "unix:"); ok {
		h.network, h.address = "unix", path
		if path == "" {
			return nil, errors.New("http backend: unix: has no path")
		}
	} else if _, _, err := net.SplitHostPort(cfg.Address); err != nil {
		return nil, fmt.Errorf("http backend: %w; want host:port or unix:path", err)
	}
	return h, nil
}

// RoundTrip sends r and returns the response once its head is there. The body of r must have a length. The
// request target is r.RequestURI where that is in origin form, and that of r.URL otherwise. Headers that
// concern one connection only are left out, and no header is added.
//
// An upgrade goes over a connection of its own; the body of a 101 is that connection: an io.ReadWriteCloser
// with CloseWrite and SetReadDeadline, no buffers, and no longer bound to r's context. Errors are *Error.
func (h *HTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	x := newExchange(h, r)
	if err := check(r); err != nil {
		x.closeRequest()
		return nil, &Error{Op: "send", Backend: h.cfg.Address, Blame: Gateway, Err: err}
	}
	if err := x.connect(); err != nil {
		x.closeRequest()
		return nil, err
	}
	return x.roundTrip()
}

// connect gets a connection for x, and binds it to the request's context.
func (x *exchange) connect() error {
	ctx := x.r.Context()
	if x.trace.GetConn != nil {
		x.trace.GetConn(x.h.address)
	}
	info := httptrace.GotConnInfo{}
	// A connection that is to become a tunnel never comes back, so it is not taken from those that do.
	if !x.upgrade {
		x.c = x.h.takeIdle()
	}
	if x.c != nil {
		info.Reused, info.WasIdle, info.IdleTime = true, true, time.Since(x.c.idleSince)
	} else if err := x.dial(ctx); err != nil {
		return err
	}
	info.Conn = x.c.socket
	if x.trace.GotConn != nil {
		x.trace.GotConn(info)
	}
	if ctx.Done() != nil {
		x.unbind = context.AfterFunc(ctx, x.c.closeNow)
	}
	return nil
}

func (x *exchange) dial(ctx context.Context) error {
	raw, err := x.h.dialer.DialContext(ctx, x.h.network, x.h.address)
	if err == nil {
		x.c = newConn(raw.(duplexConn), &x.h.cfg)
		return nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && x.h.network == "unix" {
		err = op.Err // the rest is said already
	}
	e := &Error{Op: "dial", Backend: x.h.cfg.Address, Err: err, safe: true}
	if ctx.Err() != nil {
		e.Blame, e.Err = Client, context.Cause(ctx)
	}
	return e
}

// check refuses what would not arrive as it was meant.
func check(r *http.Request) error {
	switch {
	case hasBody(r) && r.ContentLength < 0:
		return ErrLengthRequired
	case !isPlain(r.Method), !isPlain(target(r)), !isPlain(host(r)):
		return fmt.Errorf("%w: %q %q for %q", ErrBadRequest, r.Method, target(r), host(r))
	}
	return nil
}

// isPlain reports whether s can stand in a request line: neither empty, nor with spaces or control bytes.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}
