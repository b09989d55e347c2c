package report

import (
	"fmt"
	"math"

	"gateway/proxy/bench"
)

const (
	fewestTail = 2 // powers of ten of the tail that are shown
	mostTail   = 6
	perPower   = 24 // points of the line in each
)

// distribution shows how many answers take longer than a time. Both axes are logarithmic, so that the slowest 1 in 1,000 take
// as much room as the rest.
func distribution(r *bench.Result, all []*sum) *chart {
	c := newChart("distribution", "How long answers take",
		"For each arm, the share of answers that took longer than a time, on logarithmic axes: the further down and left, the better.", 380)
	low, high, tail := math.Inf(1), 0.0, 0
	for _, s := range all {
		if s.Response.Count() == 0 {
			continue
		}
		low = min(low, float64(s.Response.Quantile(0)))
		high = max(high, float64(s.Response.Max()))
		tail = max(tail, int(math.Ceil(math.Log10(float64(s.Response.Count())))))
	}
	if high == 0 {
		return nil
	}
	x := logAxis(max(low, 1000), max(high, 2000), c.Left, c.Right)
	y := axis{low: math.Pow(10, -float64(min(max(tail, fewestTail), mostTail))), high: 1, from: c.Bottom, to: c.Top, log: true}
	c.XTicks = x.ticks(shortTime)
	c.YTicks = shares(y)
	c.XTitle, c.YTitle = "response time", "share of answers that take longer"
	for arm, s := range all {
		c.Lines = append(c.Lines, line{tailOf(s, x, y), "curve " + armClass(arm), s.Name})
	}
	c.name(namesOf(r))
	return c
}

// tailOf is the line of one arm. It ends where no answer lies beyond.
func tailOf(s *sum, x, y axis) string {
	count := float64(s.Response.Count())
	var p path
	for step := 0; ; step++ {
		beyond := math.Pow(10, -float64(step)/perPower)
		if beyond < y.low*0.999 || beyond*count < 1 {
			return p.String()
		}
		p.to(x.at(float64(s.Response.Quantile(1-beyond))), y.at(beyond))
	}
}

func shares(y axis) (ticks []tick) {
	for _, share := range []struct {
		beyond float64
		text   string
	}{
		{1, "100 %"}, {0.5, "50 %"}, {0.1, "10 %"}, {0.05, "5 %"}, {0.01, "1 %"}, {1e-3, "0.1 %"},
		{1e-4, "0.01 %"}, {1e-5, "0.001 %"}, {1e-6, "0.0001 %"},
	} {
		if share.beyond >= y.low*0.999 {
			ticks = append(ticks, tick{y.at(share.beyond), share.text})
		}
	}
	return ticks
}

func namesOf(r *bench.Result) (names []string) {
	for _, a := range r.Arms {
		names = append(names, a.Name)
	}
	return names
}

// overTime shows the seconds of all blocks in the order in which they were measured.
func overTime(r *bench.Result) *chart {
	c := newChart("time", "Over time",
		"The p50 (strong) and the p99 (thin) of each second, with the blocks shaded by arm. Hatched is what does not count at a block's start.", 320)
	low, high, end := math.Inf(1), 0.0, 0.0
	for i := range r.Blocks {
		b := &r.Blocks[i]
		end = max(end, startOf(r, b)+b.For.Seconds())
		for _, s := range b.Seconds {
			if s.Good > 0 {
				low, high = min(low, float64(s.P50)), max(high, float64(s.P99))
			}
		}
	}
	if high == 0 {
		return nil
	}
	x := axis{low: max(startOf(r, &r.Blocks[0]), 0), high: end, from: c.Left, to: c.Right}
	y := logAxis(max(low, 1000), max(high, 2000), c.Bottom, c.Top)
	c.XTicks, c.YTicks = x.ticks(clock), y.ticks(shortTime)
	c.XTitle, c.YTitle = "since the start of the run", "response time"
	for i := range r.Blocks {
		c.block(r, &r.Blocks[i], x, y)
	}
	c.name(namesOf(r))
	return c
}

func startOf(r *bench.Result, b *bench.Block) float64 { return b.Start.Sub(r.Started).Seconds() }

func (c *chart) block(r *bench.Result, b *bench.Block, x, y axis) {
	start := startOf(r, b)
	from, counted, to := x.at(start), x.at(start+r.Settings.Discard.Seconds()), x.at(start+b.For.Seconds())
	hint := fmt.Sprintf("pair %d, %s", b.Pair+1, r.Arms[b.Arm].Name)
	if b.Control {
		hint += ", control"
	}
	c.Rects = append(c.Rects,
		rect{from, c.Top, to - from, c.Bottom - c.Top, "shade " + armClass(b.Arm), hint},
		rect{from, c.Top, counted - from, c.Bottom - c.Top, "discard", ""})
	var p50, p99 path
	for i, s := range b.Seconds {
		left, right := min(float64(i), b.For.Seconds()), min(float64(i+1), b.For.Seconds())
		if s.Good == 0 || left == right {
			p50.lift()
			p99.lift()
			continue
		}
		for _, at := range []float64{left, right} {
			p50.to(x.at(start+at), y.at(float64(s.P50)))
			p99.to(x.at(start+at), y.at(float64(s.P99)))
		}
	}
	c.Lines = append(c.Lines, line{p99.String(), "thin " + armClass(b.Arm), ""}, line{p50.String(), "curve " + armClass(b.Arm), ""})
}
