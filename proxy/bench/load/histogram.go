package load

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is what a histogram can tell apart; longer times are counted as overflow.
const longest = time.Minute

// mostTimes is more than anybody measures, and far less than overflows.
const mostTimes = 1 << 48

// Histogram counts times from 1 microsecond to a minute, each with an error of at most 1 in 1,000, or 1 in 100 for a coarse
// one. The zero value and nil are empty and take no times.
type Histogram struct {
	hdr      *hdrhistogram.Histogram
	overflow int64
}

func newHistogram(digits int) *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, longest.Microseconds(), digits)}
}

// Record counts d, rounded up to a whole microsecond.
func (h *Histogram) Record(d time.Duration) {
	if h.hdr.RecordValue(max(int64((d+time.Microsecond-1)/time.Microsecond), 1)) != nil {
		h.overflow++
	}
}

// Count is how many times were recorded, those beyond a minute among them.
func (h *Histogram) Count() int64 {
	if h == nil || h.hdr == nil {
		return 0
	}
	return h.hdr.TotalCount() + h.overflow
}

// Overflow is how many times were longer than a minute.
func (h *Histogram) Overflow() int64 {
	if h == nil {
		return 0
	}
	return h.overflow
}

// Quantile is the time that the share q of all does not exceed, q in 0 to 1. It is 0 for an empty histogram, and a minute
// for what lies beyond one.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	inside := float64(h.hdr.TotalCount()) / float64(h.Count())
	if q > inside {
		return longest
	}
	return time.Duration(h.hdr.ValueAtQuantile(100*q/inside)) * time.Microsecond
}

// Mean is that of the times up to a minute.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == h.Overflow() {
		return 0
	}
	return time.Duration(h.hdr.Mean() * float64(time.Microsecond))
}

// Deviation is the standard deviation of the times up to a minute.
func (h *Histogram) Deviation() time.Duration {
	if h.Count() == h.Overflow() {
		return 0
	}
	return time.Duration(h.hdr.StdDev() * float64(time.Microsecond))
}

// Max is the longest time.
func (h *Histogram) Max() time.Duration {
	switch {
	case h.Count() == 0:
		return 0
	case h.overflow > 0:
		return longest
	}
	return time.Duration(h.hdr.Max()) * time.Microsecond
}

// Merge adds what other holds.
func (h *Histogram) Merge(other *Histogram) {
	if other.Count() == 0 {
		return
	}
	h.overflow += other.overflow + h.hdr.Merge(other.hdr)
}

func (h *Histogram) reset() {
	h.hdr.Reset()
	h.overflow = 0
}

// stored is how a histogram stands in a file.
type stored struct {
	HDR      string `json:"hdr_v2"`
	Overflow int64  `json:"overflow,omitempty"`
}

// MarshalJSON writes the histogram as HdrHistogram's version 2, compressed, in base64.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h == nil || h.hdr == nil {
		return []byte("null"), nil
	}
	text, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored{string(text), h.overflow})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var s *stored
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s == nil {
		*h = Histogram{}
		return nil
	}
	if _, err := base64.StdEncoding.DecodeString(s.HDR); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	hdr, err := hdrhistogram.Decode([]byte(s.HDR))
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	if hdr.LowestTrackableValue() != 1 || hdr.HighestTrackableValue() != longest.Microseconds() {
		return fmt.Errorf("histogram: from %d to %d; want microseconds up to a minute", hdr.LowestTrackableValue(), hdr.HighestTrackableValue())
	}
	// Whoever adds up histograms need not fear that the sum is less than its parts.
	if s.Overflow < 0 || s.Overflow > mostTimes || hdr.TotalCount() > mostTimes {
		return fmt.Errorf("histogram: %d times and %d beyond", hdr.TotalCount(), s.Overflow)
	}
	h.hdr, h.overflow = hdr, s.Overflow
	return nil
}

// NewHistogram returns an empty histogram of the fine kind.
func NewHistogram() *Histogram { return newHistogram(fine) }

// ShareAbove is the share of times that are longer than d.
func (h *Histogram) ShareAbove(d time.Duration) float64 {
	if h.Count() == 0 {
		return 0
	}
	var above int64
	for _, bar := range h.hdr.Distribution() {
		if bar.From > d.Microseconds() {
			above += bar.Count
		}
	}
	return float64(above+h.overflow) / float64(h.Count())
}
