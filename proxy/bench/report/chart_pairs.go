package report

import (
	"fmt"
	"math"

	"gateway/proxy/bench"
)

// pairRow is the height of a figure in the picture of pairs.
const pairRow = 44

// pairs shows the ratio of each pair as a dot, and what follows from all of them as an interval. It is nil for a run that has
// no ratios.
func pairs(r *bench.Result) *chart {
	if !hasRatios(r) {
		return nil
	}
	var shown []*bench.Figure
	low, high := 1.0, 1.0
	ratios := map[string][]float64{}
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Compared == nil {
			continue
		}
		shown = append(shown, f)
		ratios[f.Name] = pairRatios(r, f.Name)
		for _, v := range append(ratios[f.Name], f.Compared.Ratio.Low, f.Compared.Ratio.High) {
			low, high = min(low, v), max(high, v)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	a, b := r.Arms[0].Name, r.Arms[1].Name
	c := newChart("pairs", "Pair by pair", fmt.Sprintf(
		"Each dot is one pair of blocks: the figure of %s divided by that of %s. The bar is the interval of their mean; where it crosses the line at 1, no difference is shown.", b, a),
		px(80+pairRow*len(shown)))
	c.Left = 150
	x := ratioAxis(low, high, c.Left+10, c.Right-150)
	c.XTicks = x.ticks(func(v float64) string { return fmt.Sprintf("%.3g", v) })
	c.XTitle = b + " / " + a
	c.Lines = append(c.Lines, line{fmt.Sprintf("M%s %sV%s", x.at(1), c.Top-6, c.Bottom), "one", ""})
	for i, f := range shown {
		c.pairRow(f, ratios[f.Name], x, c.Top+px(pairRow*i)+pairRow/2)
	}
	return c
}

// ratioAxis is logarithmic, since half as much is as far from 1 as twice as much. It shows a hundredth at least.
func ratioAxis(low, high float64, from, to px) axis {
	margin := max(0.01, 0.06*math.Log(high/low))
	low, high = low*math.Exp(-margin), high*math.Exp(margin)
	if high/low > 3 {
		return axis{low: low, high: high, from: from, to: to, log: true}
	}
	return axis{low: low, high: high, from: from, to: to} // of so few, a line is as good and has better ticks
}

func (c *chart) pairRow(f *bench.Figure, ratios []float64, x axis, y px) {
	c.YTicks = append(c.YTicks, tick{y, nameOf(f.Name)})
	for i, v := range ratios {
		// Beside each other, so that equal ones are seen.
		c.Dots = append(c.Dots, dot{x.at(v), y - 9 + px(i%3)*3, "pair", fmt.Sprintf("pair %d: %.3f", i+1, v)})
	}
	ratio := f.Compared.Ratio
	left, right, at := x.at(ratio.Low), x.at(ratio.High), y+9
	c.Lines = append(c.Lines,
		line{fmt.Sprintf("M%s %sH%s", left, at, right), "interval", ""},
		line{fmt.Sprintf("M%s %sV%sM%s %sV%s", left, at-5, at+5, right, at-5, at+5), "ends", ""})
	c.Dots = append(c.Dots, dot{x.at(ratio.Estimate), at, "estimate", fmt.Sprintf("%.3f", ratio.Estimate)})
	c.Labels = append(c.Labels, label{c.Right, y + 4, fmt.Sprintf("%.3f (%s)", ratio.Estimate, interval(ratio)), "value", "end"})
}

// pairRatios are those of the whole pairs, in their order.
func pairRatios(r *bench.Result, figure string) (ratios []float64) {
	byPair := map[int][2]float64{}
	last := -1
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if v, ok := r.Value(figure, b); ok && !b.Control {
			both := byPair[b.Pair]
			both[b.Arm] = v
			byPair[b.Pair], last = both, max(last, b.Pair)
		}
	}
	for pair := 0; pair <= last; pair++ {
		if both := byPair[pair]; both[0] > 0 && both[1] > 0 {
			ratios = append(ratios, both[1]/both[0])
		}
	}
	return ratios
}

// barRow is the height of an arm in a picture of bars.
const barRow = 34

// bars shows one figure of the arms as bars, and how far the blocks reach as whiskers. It is nil where the figure is not known.
func bars(r *bench.Result, figure string) *chart {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Name == figure && len(f.Of) > 0 {
			return barsOf(r, f)
		}
	}
	return nil
}

func barsOf(r *bench.Result, f *bench.Figure) *chart {
	c := newChart(f.Name, sentence(nameOf(f.Name)), "The median of the blocks, and as a line the least and the most of them.", px(76+barRow*len(f.Of)))
	c.Title = c.Title[:len(c.Title)-1]
	c.Left = 150
	most := 0.0
	for _, s := range f.Of {
		most = max(most, s.Max)
	}
	x := axis{low: 0, high: most * 1.02, from: c.Left, to: c.Right - 150}
	c.XTicks = x.ticks(func(v float64) string { return shorter(amount(v, f.Unit)) })
	for arm, s := range f.Of {
		y := c.Top + px(barRow*arm) + 4
		c.YTicks = append(c.YTicks, tick{y + (barRow-10)/2, r.Arms[arm].Name})
		c.Rects = append(c.Rects, rect{c.Left, y, x.at(s.Median) - c.Left, barRow - 10, "bar " + armClass(arm), spread(s, f.Unit)})
		middle := y + (barRow-10)/2
		c.Lines = append(c.Lines, line{fmt.Sprintf("M%s %sH%s", x.at(s.Min), middle, x.at(s.Max)), "whisker", ""})
		c.Labels = append(c.Labels, label{c.Right, middle + 4, amount(s.Median, f.Unit), "value", "end"})
	}
	return c
}
