package upstream

// powerOfTwo draws two backends and takes the one with fewer requests. Gateways that do not know of each
// other then do not all run to the same backend, as they would with leastInFlight.
type powerOfTwo struct{ rand func(n int) int }

func (p *powerOfTwo) pick(_ uint64, candidates []*backend) *backend {
	i := p.rand(len(candidates))
	j := p.rand(len(candidates) - 1)
	if j >= i {
		j++
	}
	if candidates[j].inFlight < candidates[i].inFlight {
		return candidates[j]
	}
	return candidates[i]
}
