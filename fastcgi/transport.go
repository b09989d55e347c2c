// Package fastcgi is a FastCGI client as an http.RoundTripper, made for PHP-FPM.
package fastcgi

import (
	"net/http"
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
	// Its client's Do returns a nil *gofast.ResponsePipe.
	Middleware []gofast.Middleware
}

// Transport speaks FastCGI to one backend. It implements http.RoundTripper.
type Transport struct {
	cfg Config
}

// New returns a Transport for the backend that cfg names.
func New(cfg Config) (*Transport, error) {
	return &Transport{cfg: cfg}, nil
}

// RoundTrip sends r, whose context carries an Env and whose ContentLength is exact, and returns the answer.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &Error{Op: "dial", Addr: t.cfg.Address, Err: ErrClosed, safe: true}
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() {}

// Close closes what is idle and ends the waiting for workers of abandoned requests. Requests under way go on.
func (t *Transport) Close() {}
