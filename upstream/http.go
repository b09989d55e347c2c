package upstream

import (
	"net/http"
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
	// MaxHeaderBytes limits a response head. Zero means 64 KiB.
	MaxHeaderBytes int
}

// HTTP sends requests to one backend over HTTP/1.1. It implements http.RoundTripper.
type HTTP struct{ cfg HTTPConfig }

// NewHTTP checks cfg and returns its transport.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) { return &HTTP{cfg}, nil }

// RoundTrip sends r and returns the response once its head is there.
func (h *HTTP) RoundTrip(r *http.Request) (*http.Response, error) { return nil, ErrNoBackend }

// CloseIdle closes the connections that are not in use.
func (h *HTTP) CloseIdle() {}

// Close closes the connections that are not in use, and keeps none from then on.
func (h *HTTP) Close() {}
