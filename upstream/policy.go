package upstream

import "fmt"

// policy chooses among backends. The group calls it with its lock held.
type policy interface {
	// pick returns one of candidates: at least two, all able to take the request now, in the order of the
	// configuration. It must not block, keep the slice or allocate. key is the request's, for hash alone.
	pick(key uint64, candidates []*backend) *backend
}

func newPolicy(cfg *Config) (policy, error) {
	switch cfg.Policy {
	case "round_robin":
		return &roundRobin{}, nil
	case "least_in_flight":
		return &leastInFlight{}, nil
	case "power_of_two":
		return &powerOfTwo{rand: cfg.rand}, nil
	case "hash":
		return rendezvous{}, nil
	}
	return nil, fmt.Errorf("upstream.%s.policy: unknown %q; want round_robin, least_in_flight, power_of_two or hash",
		cfg.Name, cfg.Policy)
}
