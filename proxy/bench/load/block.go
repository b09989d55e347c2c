package load

import "time"

// Block is what came of a plan. Issued is always the sum of Good, Bad, Hung and Failed.
type Block struct {
	Start time.Time     `json:"start"`
	For   time.Duration `json:"for_ns"` // how long requests were issued; less than planned for a partial block
	// Offered is the rate that was asked for, in requests a second; 0 in a closed loop, which has none.
	Offered float64 `json:"offered"`
	// Due is how many requests should have been sent in the measured part; 0 in a closed loop. Chance makes of it another
	// number than Offered says, and requests that find no place before the end are in it alone.
	Due int64 `json:"due"`
	// Partial says that the block was ended before its time.
	Partial bool `json:"partial,omitempty"`
	// Warmup is the part at the start that is not in any other figure but Seconds.
	Warmup Counts `json:"warmup"`
	Counts
	Faults   map[string]int64 `json:"faults,omitempty"`
	Statuses map[int]int64    `json:"statuses,omitempty"`
	Errors   map[string]int64 `json:"errors,omitempty"`
	// Response is from when a good request should have been sent, Service from when it was, to the end of its answer.
	Response *Histogram `json:"response"`
	Service  *Histogram `json:"service"`
	// Lateness is from when any request should have been sent to when it was given to the arm.
	Lateness *Histogram `json:"lateness"`
	// Queued is the part of Service in which a good request waited for a place at a backend and for a connection. It is
	// coarse, and empty where nobody knows.
	Queued *Histogram   `json:"queued"`
	Routes []RouteBlock `json:"routes"`
	Bytes  int64        `json:"bytes"` // of the bodies of good answers
	// MeanInFlight is how many requests were under way on average, among them those that hang. Little's law holds it against
	// the rate and the service time of the good ones.
	MeanInFlight float64 `json:"mean_in_flight"`
	// Oldest is how long the oldest request had been under way when the last one had been issued.
	Oldest time.Duration `json:"oldest_ns"`
	Opened int64         `json:"connections_opened"`
	Reused int64         `json:"connections_reused"`
	// ConnMedians is the median service time of each connection with at least 20 answers, of the first 512.
	ConnMedians []time.Duration `json:"connection_medians_ns,omitempty"`
	Seconds     []Second        `json:"seconds"`
	// GeneratorCPU is what this whole process used meanwhile, GCPause the longest pause of its collector but for 1 %.
	GeneratorCPU time.Duration `json:"generator_cpu_ns"`
	GCPause      time.Duration `json:"gc_pause_p99_ns"`
}

// Counts adds up: Issued is the sum of the others.
type Counts struct {
	Issued int64 `json:"issued"`
	Good   int64 `json:"good"`
	Bad    int64 `json:"bad"`    // a whole answer that is not the right one
	Hung   int64 `json:"hung"`   // no answer by the end of the drain
	Failed int64 `json:"failed"` // an error, or no answer by the deadline
}

// RouteBlock is the part of one route.
type RouteBlock struct {
	Counts
	Response *Histogram `json:"response"` // coarse
	Bytes    int64      `json:"bytes"`
}

// Second is one second of the time line, by when answers ended.
type Second struct {
	Started int64         `json:"started"`
	Good    int64         `json:"good"`
	Other   int64         `json:"other"` // bad and failed
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
}

// Rate is how many good answers a second there were, over the measured part.
func (b *Block) Rate(discard time.Duration) float64 {
	if measured := (b.For - discard).Seconds(); measured > 0 {
		return float64(b.Good) / measured
	}
	return 0
}
