package upstream

// leastInFlight takes the backend that has the fewest requests. Backends that are level take turns, or the
// first would do all the work of a quiet site.
type leastInFlight struct{ turn int }

func (p *leastInFlight) pick(_ uint64, candidates []*backend) *backend {
	p.turn++
	start := p.turn % len(candidates)
	chosen := candidates[start]
	for i := range candidates {
		if b := candidates[(start+i)%len(candidates)]; b.inFlight < chosen.inFlight {
			chosen = b
		}
	}
	return chosen
}
