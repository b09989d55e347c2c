package meter

import "gateway/proxy/bench/stat"

// Track is how the memory of an arm went while it answered requests. The zero value is empty.
type Track struct {
	thousands []float64 // requests so far
	bytes     []float64
	peak      int64
}

// Add notes a size after so many requests since the beginning. Of readings with no request between them the trend uses
// the first.
func (t *Track) Add(requests, bytes int64) {
	t.peak = max(t.peak, bytes)
	at := float64(requests) / 1000
	if n := len(t.thousands); n > 0 && at <= t.thousands[n-1] {
		return
	}
	t.thousands, t.bytes = append(t.thousands, at), append(t.bytes, float64(bytes))
}

// Peak is the greatest size so far.
func (t *Track) Peak() int64 { return t.peak }

// Leak is the trend in bytes for each 1,000 requests. It takes four readings with requests between them.
func (t *Track) Leak(confidence float64) (stat.Trend, bool) {
	return stat.FindTrend(t.thousands, t.bytes, confidence)
}
