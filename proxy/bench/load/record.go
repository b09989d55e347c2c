package load

import (
	"math/rand/v2"
	"sync"
	"time"
)

// outcome is how a request ended.
type outcome struct {
	route             int
	intended, sent    time.Duration // since the start of the block
	wrote, end        time.Duration
	fault             Fault
	err               error
	status            int
	size              int64
	conn              uint64
	connected, reused bool // connected: wrote and reused are known
}

// shard holds a part of the counts, so that clients do not wait for each other to count.
type shard struct {
	mu       sync.Mutex // guards what follows
	warmup   Counts
	counts   Counts
	faults   map[string]int64
	statuses map[int]int64
	errors   map[string]int64
	response *Histogram
	service  *Histogram
	lateness *Histogram
	queued   *Histogram
	routes   []RouteBlock
	bytes    int64
	opened   int64
	reused   int64
}

// record is where everything is counted.
type record struct {
	plan   Plan
	shards []*shard
	line   timeline
	conns  connections
}

const (
	fine, coarse = 3, 2 // digits of a histogram
	shards       = 8
)

func newRecord(p Plan) *record {
	r := &record{plan: p, shards: make([]*shard, shards)}
	for i := range r.shards {
		s := &shard{
			faults: map[string]int64{}, statuses: map[int]int64{}, errors: map[string]int64{},
			response: newHistogram(fine), service: newHistogram(fine), lateness: newHistogram(fine),
			queued: newHistogram(coarse), routes: make([]RouteBlock, p.Routes),
		}
		for route := range s.routes {
			s.routes[route].Response = newHistogram(coarse)
		}
		r.shards[i] = s
	}
	r.line.init()
	return r
}

// any returns a shard that few others use just now.
func (r *record) any() *shard { return r.shards[rand.N(len(r.shards))] }

// issued counts a request that is about to be sent.
func (r *record) issued(intended time.Duration, route int) {
	s := r.any()
	s.mu.Lock()
	defer s.mu.Unlock()
	if intended < r.plan.Discard {
		s.warmup.Issued++
		return
	}
	s.counts.Issued++
	s.routes[route].Issued++
}

// ended counts how a request ended before the block did.
func (r *record) ended(o outcome) {
	good := o.err == nil && o.fault == None
	r.line.add(o.end, o.end-o.intended, good)
	s := r.any()
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.intended < r.plan.Discard {
		s.warmup.count(o)
		return
	}
	s.counts.count(o)
	s.routes[o.route].Counts.count(o)
	s.lateness.Record(o.sent - o.intended)
	if o.connected {
		if o.reused {
			s.reused++
		} else {
			s.opened++
		}
	}
	if o.err != nil {
		s.errors[kindOf(o.err)]++
		return
	}
	s.statuses[o.status]++
	if !good {
		s.faults[o.fault.String()]++
		return
	}
	s.response.Record(o.end - o.intended)
	s.service.Record(o.end - o.sent)
	if o.connected {
		s.queued.Record(o.wrote - o.sent)
	}
	s.routes[o.route].Response.Record(o.end - o.intended)
	s.routes[o.route].Bytes += o.size
	s.bytes += o.size
	if o.conn != 0 {
		r.conns.add(o.conn, o.end-o.sent)
	}
}

func (c *Counts) count(o outcome) {
	switch {
	case o.err != nil:
		c.Failed++
	case o.fault != None:
		c.Bad++
	default:
		c.Good++
	}
}

// block adds the shards up. What has been issued and has not ended by now hangs.
func (r *record) block() *Block {
	b := &Block{
		Offered: r.plan.Rate, Faults: map[string]int64{}, Statuses: map[int]int64{}, Errors: map[string]int64{},
		Response: newHistogram(fine), Service: newHistogram(fine), Lateness: newHistogram(fine),
		Queued: newHistogram(coarse), Routes: make([]RouteBlock, r.plan.Routes),
	}
	for i := range b.Routes {
		b.Routes[i].Response = newHistogram(coarse)
	}
	for _, s := range r.shards {
		s.mu.Lock()
		b.add(s)
		s.mu.Unlock()
	}
	b.Warmup.settle()
	b.Counts.settle()
	for i := range b.Routes {
		b.Routes[i].settle()
	}
	b.ConnMedians = r.conns.medians()
	b.Seconds = r.line.done()
	return b
}

func (c *Counts) settle() { c.Hung = c.Issued - c.Good - c.Bad - c.Failed }

func (b *Block) add(s *shard) {
	b.Warmup.add(s.warmup)
	b.Counts.add(s.counts)
	sum(b.Faults, s.faults)
	sum(b.Statuses, s.statuses)
	sum(b.Errors, s.errors)
	b.Response.Merge(s.response)
	b.Service.Merge(s.service)
	b.Lateness.Merge(s.lateness)
	b.Queued.Merge(s.queued)
	for i := range b.Routes {
		b.Routes[i].Counts.add(s.routes[i].Counts)
		b.Routes[i].Response.Merge(s.routes[i].Response)
		b.Routes[i].Bytes += s.routes[i].Bytes
	}
	b.Bytes += s.bytes
	b.Opened += s.opened
	b.Reused += s.reused
}

func (c *Counts) add(other Counts) {
	c.Issued += other.Issued
	c.Good += other.Good
	c.Bad += other.Bad
	c.Failed += other.Failed
}

func sum[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}
