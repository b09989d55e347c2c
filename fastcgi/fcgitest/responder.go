// Package fcgitest is a FastCGI responder that does what a test's script says, right or wrong.
package fcgitest

import (
	"net"
	"testing"
)

// Responder listens on a socket of its own and answers each request with a script.
type Responder struct {
	// Listener may be replaced between NewUnstarted and Start. The default is a unix socket.
	Listener net.Listener

	t       testing.TB
	scripts [][]Step
}

// New starts a responder that answers every request with script. It is closed when the test ends.
func New(t testing.TB, script ...Step) *Responder {
	r := NewUnstarted(t, script...)
	r.Start()
	return r
}

// NewUnstarted is New without Start.
func NewUnstarted(t testing.TB, script ...Step) *Responder {
	return &Responder{t: t, scripts: [][]Step{script}}
}

// Then adds the script of the next request. The last script answers all further ones.
func (r *Responder) Then(script ...Step) *Responder {
	r.scripts = append(r.scripts, script)
	return r
}

// Start begins to accept connections.
func (r *Responder) Start() {}

// Close stops the responder, cuts its connections and waits for all its scripts.
func (r *Responder) Close() {}

// Network is "unix" or "tcp".
func (r *Responder) Network() string { return r.Listener.Addr().Network() }

// Addr is the address to dial.
func (r *Responder) Addr() string { return r.Listener.Addr().String() }

// Requests returns the requests whose params have been read, in order of arrival.
func (r *Responder) Requests() []Request { return nil }
