package upstream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"go.uber.org/zap"

	"gateway/upstream/spool"
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
	// Name stands in errors and logs.
	Name string
	// Backends are at least one.
	Backends []BackendConfig

	// Policy is round_robin, least_in_flight, power_of_two or hash. Empty means least_in_flight.
	Policy string
	// HashKey returns what the hash policy keeps together, and only that policy needs it. It is called once
	// per request; requests with an empty key are spread at random.
	HashKey func(*http.Request) string

	// QueueLength is how many requests wait at once. Zero means ten times the slots of all backends, and
	// 1024 when some backend has no cap. Below zero none does: what finds no slot is refused at once.
	QueueLength int
	// QueueWait is how long one request waits, from the moment its body is complete, for a slot or for a
	// backend that can be reached. Zero means 10 s.
	QueueWait time.Duration

	// EjectAfter failures within EjectWindow keep a backend out for EjectFor, unless it is the last one.
	// Zero means 3, 10 s and 10 s.
	EjectAfter            int
	EjectWindow, EjectFor time.Duration

	// SpoolDir, SpoolMemory and SpoolBudget say where request bodies wait; see spool.Config.
	SpoolDir    string
	SpoolMemory int64
	SpoolBudget *spool.Budget

	// Logger hears about backends that are kept out and come back. Nil means nobody does.
	Logger *zap.Logger

	rand func(n int) int // nil means math/rand/v2.IntN
}

// Ten for each slot is what a pool of 100 ms pages works off in a second. Without a cap nothing queues but those
// whose backend cannot be reached.
const (
	queuePerSlot  = 10
	queueUncapped = 1024
)

func (cfg *Config) setDefaults() {
	orDefault(&cfg.Policy, "least_in_flight")
	orDefault(&cfg.QueueWait, 10*time.Second)
	orDefault(&cfg.EjectAfter, 3)
	orDefault(&cfg.EjectWindow, 10*time.Second)
	orDefault(&cfg.EjectFor, 10*time.Second)
	orDefault(&cfg.QueueLength, cfg.slots()*queuePerSlot)
	orDefault(&cfg.QueueLength, queueUncapped)
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.rand == nil {
		cfg.rand = rand.IntN
	}
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// slots returns how many requests all backends take together; zero means any number.
func (cfg *Config) slots() (total int) {
	for _, b := range cfg.Backends {
		if b.MaxInFlight == 0 {
			return 0
		}
		total += b.MaxInFlight
	}
	return total
}

// check words its errors for whoever wrote the configuration file, with the keys that stand there.
func (cfg *Config) check() error {
	if len(cfg.Backends) == 0 {
		return &Error{Op: "configure", Group: cfg.Name, Blame: Gateway, Err: ErrNoBackend}
	}
	seen := make(map[string]bool)
	for i, b := range cfg.Backends {
		switch {
		case b.Addr == "":
			return fmt.Errorf("upstream.%s: backend %d has no address", cfg.Name, i+1)
		case b.Transport == nil:
			return fmt.Errorf("upstream.%s: backend %s has no transport", cfg.Name, b.Addr)
		case b.MaxInFlight < 0:
			return fmt.Errorf("upstream.%s.max_in_flight: %d; want 0 (no cap) or more", cfg.Name, b.MaxInFlight)
		case seen[b.Addr]:
			return fmt.Errorf("upstream.%s: backend %s is listed twice", cfg.Name, b.Addr)
		}
		seen[b.Addr] = true
	}
	if cfg.EjectAfter < 0 {
		return fmt.Errorf("upstream.%s: health.fails wants 0 (the default) or more", cfg.Name)
	}
	if cfg.Policy == "hash" && cfg.HashKey == nil {
		return errors.New("upstream." + cfg.Name + ".hash_key: the hash policy needs one")
	}
	return nil
}
