package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// px is a place or a length in a picture.
type px float64

func (p px) String() string { return strconv.FormatFloat(float64(p), 'f', 1, 64) }

// chart is a picture, ready to be drawn by the template. Classes are names that the style sheet knows.
type chart struct {
	ID, Title, Desc string
	Width, Height   px
	Left, Right     px // where the plot begins and ends
	Top, Bottom     px
	XTicks, YTicks  []tick
	XTitle, YTitle  string
	Legend          []legend
	Rects           []rect
	Lines           []line
	Dots            []dot
	Labels          []label
}

type tick struct {
	At   px
	Text string
}

type legend struct {
	At          px
	Class, Text string
}

type rect struct {
	X, Y, Width, Height px
	Class, Hint         string
}

type line struct{ D, Class, Hint string }

type dot struct {
	X, Y        px
	Class, Hint string
}

type label struct {
	X, Y                px
	Text, Class, Anchor string
}

func newChart(id, title, desc string, height px) *chart {
	return &chart{
		ID: id, Title: title, Desc: desc, Width: 920, Height: height, Left: 74, Right: 900, Top: 34, Bottom: height - 46,
	}
}

// XLabels is where the words below the plot stand.
func (c *chart) XLabels() px { return c.Bottom + 18 }

// XTitleY is where the title of the axis below the plot stands.
func (c *chart) XTitleY() px { return c.Bottom + 38 }

// YLabels is where the words left of the plot end.
func (c *chart) YLabels() px { return c.Left - 10 }

// name puts the arms' names above the plot.
func (c *chart) name(arms []string) {
	at := c.Left
	for i, arm := range arms {
		c.Legend = append(c.Legend, legend{at, armClass(i), arm})
		at += px(34 + 8*len([]rune(arm)))
	}
}

func armClass(arm int) string { return "arm" + strconv.Itoa(arm) }

// axis maps values to places.
type axis struct {
	low, high float64
	from, to  px
	log       bool
}

func (a axis) at(v float64) px {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if !(high > low) {
		return (a.from + a.to) / 2
	}
	return a.from + (a.to-a.from)*px(min(max((v-low)/(high-low), 0), 1))
}

// logAxis is an axis for values above 0 whose ends are at ticks.
func logAxis(low, high float64, from, to px) axis {
	a := axis{low: roundDown(low), high: high, from: from, to: to, log: true}
	for _, v := range logSteps(a.low, high*10) {
		if v >= high {
			a.high = v
			break
		}
	}
	return a
}

// roundDown is the largest of 1, 2 and 5 times a power of ten that is not above v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{5, 2} {
		if v >= step*power {
			return step * power
		}
	}
	return power
}

// logSteps are the 1, 2 and 5 times powers of ten from low to high.
func logSteps(low, high float64) (steps []float64) {
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, step := range []float64{1, 2, 5} {
			if v := step * math.Pow(10, power); v >= low*0.999 && v <= high*1.001 {
				steps = append(steps, v)
			}
		}
	}
	return steps
}

// ticks marks an axis: with the steps of a logarithmic one, thinned out when there are many, or with a few round numbers.
func (a axis) ticks(text func(float64) string) (ticks []tick) {
	steps := a.steps()
	for _, v := range steps {
		if len(steps) > 10 && a.log && leading(v) != 1 {
			continue
		}
		ticks = append(ticks, tick{a.at(v), text(v)})
	}
	return ticks
}

func leading(v float64) int {
	return int(math.Round(v / math.Pow(10, math.Floor(math.Log10(v*1.0001)))))
}

func (a axis) steps() (steps []float64) {
	if a.log {
		return logSteps(a.low, a.high)
	}
	if !(a.high > a.low) {
		return []float64{a.low}
	}
	step := roundDown(max((a.high-a.low)/5, 1e-12))
	for n := math.Ceil(a.low / step); n*step <= a.high*(1+1e-9) && len(steps) < 20; n++ {
		steps = append(steps, n*step)
	}
	return steps
}

// path is a line through points.
type path struct {
	b    strings.Builder
	pen  bool
	last string
}

func (p *path) to(x, y px) {
	at := x.String() + " " + y.String()
	switch {
	case !p.pen:
		p.b.WriteString("M" + at)
	case at != p.last:
		p.b.WriteString("L" + at)
	}
	p.pen, p.last = true, at
}

// lift ends a piece of the line.
func (p *path) lift() { p.pen = false }

func (p *path) String() string { return p.b.String() }

func shortTime(ns float64) string { return strings.TrimSuffix(shorter(amount(ns, "ns")), ".") }

// shorter leaves out zeros behind a point: 2.00 ms is 2 ms on an axis.
func shorter(s string) string {
	value, unit, _ := strings.Cut(s, " ")
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	return value + " " + unit
}

func clock(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%g s", seconds)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
