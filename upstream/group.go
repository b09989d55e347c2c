package upstream

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// BackendConfig is one backend of a group.
type BackendConfig struct {
	// Addr names the backend in logs, errors and Status, and places it for the hash policy. It is unique
	// within the group.
	Addr string
	// Transport sends to it. A CloseIdle method, where it has one, is called before a request is repeated
	// on a fresh connection and when the group has drained.
	Transport http.RoundTripper
	// MaxInFlight is how many requests it is given at once. Zero means any number.
	MaxInFlight int
}

// Config describes a group. A zero field means the default that it names.
type Config struct {
	Name     string
	Backends []BackendConfig

	// Policy is round_robin, least_in_flight, power_of_two or hash. Empty means least_in_flight.
	Policy string
	// HashKey returns what the hash policy keeps together. It is called once per request; requests with an
	// empty key are spread at random.
	HashKey func(*http.Request) string

	// QueueLength is how many requests wait at once. Zero means ten times the slots of all backends, and
	// 1024 when some backend has no cap.
	QueueLength int
	// QueueWait is how long one request waits, from the moment its body is complete, for a slot or for a
	// backend that can be reached. Zero means 10 s.
	QueueWait time.Duration

	// EjectAfter failures within EjectWindow keep a backend out for EjectFor, unless it is the last one.
	// Zero means 3, 10 s and 10 s.
	EjectAfter            int
	EjectWindow, EjectFor time.Duration

	// SpoolDir and SpoolMemory say where request bodies wait; see spool.Config.
	SpoolDir    string
	SpoolMemory int64

	// Logger hears about backends that are kept out and come back. Nil means nobody does.
	Logger *zap.Logger

	rand func(n int) int // nil means math/rand/v2.IntN
}

// Group is an http.RoundTripper over several backends.
type Group struct{}

// BackendStatus is a backend at one moment.
type BackendStatus struct {
	Addr        string
	InFlight    int
	MaxInFlight int       // zero means no cap
	Ejected     time.Time // until when it gets no requests; zero when it does
	Failures    int       // within the current window
	Served      uint64    // responses it began since the start
	Failed      uint64    // attempts that were its failure since the start
}

// New checks cfg and returns its group.
func New(cfg Config) (*Group, error) { return &Group{}, nil }

// RoundTrip carries r to a backend.
func (g *Group) RoundTrip(r *http.Request) (*http.Response, error) { return nil, ErrNoBackend }

// Status returns every backend as it is now, in the order of the configuration.
func (g *Group) Status() []BackendStatus { return nil }

// Queued returns how many requests wait now, for a slot or for a backend that can be reached.
func (g *Group) Queued() int { return 0 }

// Close waits until nothing is in flight or queued, at most as long as ctx, and closes kept connections as
// soon as that is so, even after it has returned. Requests that still arrive are carried as ever, so that a
// reload fails none.
func (g *Group) Close(ctx context.Context) error { return nil }
