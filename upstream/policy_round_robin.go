package upstream

// roundRobin takes the backends in turn. It counts by place in the configuration, not in the candidates, so
// that one that is full for a moment does not shift the turns of the others.
type roundRobin struct{ next int }

func (p *roundRobin) pick(_ uint64, candidates []*backend) *backend {
	chosen := candidates[0]
	for _, b := range candidates {
		if b.index >= p.next {
			chosen = b
			break
		}
	}
	p.next = chosen.index + 1
	return chosen
}
