package limit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// RateConfig is what a Rate is made with.
type RateConfig struct {
	// Count is how many requests are allowed in the time Per, in the long run. Both must be above zero.
	Count int
	Per   time.Duration
	// Burst is how many may come at once. Zero means one.
	Burst int
	// Delay is how long one beyond the burst may be held back. Zero refuses it at once.
	Delay time.Duration

	now func() time.Duration // time since some moment; nil means the clock
}

const (
	// mostKeys bounds what a Rate remembers to about 3 MiB, whoever asks and from however many addresses.
	mostKeys = 1 << 16
	// sample is how many entries are looked at when there is no more room.
	sample = 16
)

// Rate limits how often each key may come. It keeps one number for a key: when the requests so far would have come
// to an end, had they come at the allowed rate (the generic cell rate algorithm). It may be used concurrently.
type Rate struct {
	interval, tolerance, delay time.Duration
	now                        func() time.Duration
	seed                       maphash.Seed
	parts                      [shards]ratePart
}

type ratePart struct {
	mu   sync.Mutex // guards ends
	ends map[uint64]time.Duration
}

// NewRate returns the Rate of cfg.
func NewRate(cfg RateConfig) *Rate {
	interval := max(1, cfg.Per/time.Duration(cfg.Count))
	r := &Rate{
		interval: interval, tolerance: interval * time.Duration(max(0, cfg.Burst-1)), delay: cfg.Delay,
		now: cfg.now, seed: maphash.MakeSeed(),
	}
	if r.now == nil {
		start := time.Now()
		r.now = func() time.Duration { return time.Since(start) }
	}
	return r
}

// TakeAddress counts a request of the client at addr, as Take does.
func (r *Rate) TakeAddress(addr netip.Addr) (wait time.Duration, ok bool) {
	return r.take(maphash.Comparable(r.seed, Network(addr)))
}

// Take counts a request of key. It returns for how long the request has to be held back, or false and after which time
// another try is worth while. A request that is refused does not count.
func (r *Rate) Take(key string) (wait time.Duration, ok bool) {
	return r.take(maphash.String(r.seed, key))
}

func (r *Rate) take(key uint64) (time.Duration, bool) {
	part := &r.parts[key%shards]
	part.mu.Lock()
	defer part.mu.Unlock()
	now := r.now()
	end, known := part.ends[key]
	end = max(end, now)
	wait := max(0, end-now-r.tolerance)
	if wait > r.delay {
		return wait, false
	}
	if !known {
		part.makeRoom()
	}
	part.ends[key] = end + r.interval
	return wait, true
}

// makeRoom lets go of the one that has the least to pay back, which may be nothing any more. A map begins to be walked
// anywhere, so it is enough to look at a few.
func (p *ratePart) makeRoom() {
	if p.ends == nil {
		p.ends = make(map[uint64]time.Duration)
	}
	if len(p.ends) < mostKeys/shards {
		return
	}
	least, at, looked := time.Duration(0), uint64(0), 0
	for key, end := range p.ends {
		if looked == 0 || end < least {
			least, at = end, key
		}
		if looked++; looked == sample {
			break
		}
	}
	delete(p.ends, at)
}
