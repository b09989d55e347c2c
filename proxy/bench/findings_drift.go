package bench

import (
	"math"
	"slices"

	"gateway/proxy/bench/stat"
)

// steadiness is V07 and V20.
func (r *Result) steadiness(arm int) {
	name := r.Arms[arm].Name
	var x, y []float64
	widest := 0.0
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Arm != arm || b.Control || b.Good == 0 {
			continue
		}
		x = append(x, b.Start.Sub(r.Started).Minutes())
		y = append(y, math.Log(float64(b.Response.Quantile(0.5))))
		if m := b.ConnMedians; len(m) > 1 {
			widest = max(widest, float64(m[len(m)-1])/float64(max(m[0], 1)))
		}
	}
	trend, ok := stat.FindTrend(x, y, 0.95)
	// By the minute, and in all: over a few seconds, the former alone would be made of nothing.
	if ok && trend.P < 0.05 && math.Abs(trend.Slope.Estimate)*min(x[len(x)-1]-x[0], 1) > mostTrend {
		r.find("V07", arm, "%s changed by %+.1f %% a minute while it was measured: it was not warm, or something else goes on",
			name, 100*(math.Exp(trend.Slope.Estimate)-1))
	}
	if widest > mostConnRatio {
		r.flag("V20", arm, "%s: the slowest connection took %.1f times as long as the fastest. Swoole ties a connection to a worker; more connections, or its dispatch mode 3, even that out",
			name, widest)
	}
}

// deadSeconds is V07 as well: whole seconds without a good answer, between others that have many.
func (r *Result) deadSeconds(arm int) {
	dead, blocks := 0, 0
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Arm != arm {
			continue
		}
		var good []float64
		none := 0
		for _, s := range b.Seconds[:min(int(b.For.Seconds()), len(b.Seconds))] {
			if good = append(good, float64(s.Good)); s.Good == 0 {
				none++
			}
		}
		if none > 0 && spreadOf(good).Median >= fewestASecond {
			dead, blocks = dead+none, blocks+1
		}
	}
	if dead > 0 {
		r.find("V07", arm, "%s gave no good answer in %d whole seconds of %d blocks, and many in the others", r.Arms[arm].Name, dead, blocks)
	}
}

// controls is V13: two blocks of one arm that differ as much as no two should.
func (r *Result) controls() {
	m := quantileOf("p50", 0.5)
	_, first, second := r.pairs(m, true)
	_, a, b := r.pairs(m, false)
	if len(first) == 0 || len(a) < FewestPairs {
		return
	}
	var between []float64
	for i := range a {
		between = append(between, math.Log(b[i]/a[i]))
	}
	center := spreadOf(between).Median
	var noise []float64
	for _, d := range between {
		noise = append(noise, math.Abs(d-center))
	}
	// Three times what nine pairs in ten differ by from the middle of all.
	slices.Sort(noise)
	most := 3 * max(noise[min(len(noise)*9/10, len(noise)-1)], 0.005)
	for i := range first {
		if d := math.Log(second[i] / first[i]); math.Abs(d) > most {
			r.find("V13", -1, "two blocks of the same arm, one after the other, differ by %+.1f %%: the machine drifts", 100*(math.Exp(d)-1))
			return
		}
	}
}

// order is V14: coming second matters more than which arm it is.
func (r *Result) order() {
	m := quantileOf("p50", 0.5)
	pairs, a, b := r.pairs(m, false)
	if len(a) < FewestPairs {
		return
	}
	firsts := map[int]int{}
	for i := range r.Blocks {
		if block := &r.Blocks[i]; !block.Control && block.Position == 0 {
			firsts[block.Pair] = block.Arm
		}
	}
	first, second := slices.Clone(a), slices.Clone(b)
	for i := range a {
		if firsts[pairs[i]] == 1 {
			first[i], second[i] = b[i], a[i]
		}
	}
	byOrder, err := stat.Compare(first, second, r.Settings.Confidence, r.Seed)
	if err != nil {
		return
	}
	byArm, err := stat.Compare(a, b, r.Settings.Confidence, r.Seed)
	if err != nil {
		return
	}
	effect := math.Abs(math.Log(byOrder.Ratio.Estimate))
	if !byOrder.Ratio.Contains(1) && effect > math.Abs(math.Log(byArm.Ratio.Estimate)) && effect > 0.01 {
		r.find("V14", -1, "whoever is measured second differs by %+.1f %%, which is more than the arms do", 100*(byOrder.Ratio.Estimate-1))
	}
}
