package upstream

// rendezvous gives every key to the backend with which it scores highest. When a backend goes, only its own
// keys move, and to all others alike; when it comes back, just those return. Nothing has to be built or kept.
type rendezvous struct{}

func (rendezvous) pick(key uint64, candidates []*backend) *backend {
	var chosen *backend
	var best uint64
	for _, b := range candidates {
		if score := mix(key ^ b.seed); chosen == nil || score > best {
			chosen, best = b, score
		}
	}
	return chosen
}

// hash64 is FNV-1a with its bits mixed. It is the same in every process, so that gateways side by side, and
// one after the other, agree.
func hash64(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads every bit of h over all others (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
