package load

import (
	"encoding/json"
	"testing"
	"time"
)

func TestHistogramSurvivesAFile(t *testing.T) {
	h := newHistogram(fine)
	for d := time.Microsecond; d < 2*time.Minute; d = d*3/2 + 1 {
		h.Record(d)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var again Histogram
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.99, 1} {
		if h.Quantile(q) != again.Quantile(q) {
			t.Errorf("quantile %g: %s, then %s", q, h.Quantile(q), again.Quantile(q))
		}
	}
	if again.Count() != h.Count() || again.Overflow() == 0 || again.Max() != longest {
		t.Errorf("%d times, %d beyond, max %s; want %d", again.Count(), again.Overflow(), again.Max(), h.Count())
	}
}

func TestEmptyHistogramsAnswer(t *testing.T) {
	var none *Histogram
	for _, h := range []*Histogram{none, {}, newHistogram(fine)} {
		if h.Count() != 0 || h.Quantile(0.5) != 0 || h.Mean() != 0 || h.Max() != 0 {
			t.Errorf("%+v is not empty", h)
		}
	}
	newHistogram(fine).Merge(none)
}

// Nothing is added that nobody measured: one long time in five thousand is one.
func TestOneLongTimeStaysOne(t *testing.T) {
	h := newHistogram(fine)
	for range 4999 {
		h.Record(time.Millisecond)
	}
	h.Record(time.Second)
	if h.Count() != 5000 || h.Quantile(0.999) > 2*time.Millisecond || h.Max() < time.Second {
		t.Errorf("%d times, p99.9 %s, max %s", h.Count(), h.Quantile(0.999), h.Max())
	}
}

func FuzzHistogram(f *testing.F) {
	text, err := json.Marshal(newHistogram(coarse))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"hdr_v2":"","overflow":-1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		var h Histogram
		if json.Unmarshal(b, &h) == nil {
			h.Quantile(0.5)
			h.Mean()
		}
	})
}
