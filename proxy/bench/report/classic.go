package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gateway/proxy/bench"
)

// series are values of whole seconds, sorted.
type series []float64

// perSecond returns how many good answers there were in each whole second of an arm that was measured.
func perSecond(r *bench.Result, arm int) series {
	var all series
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Arm != arm || b.Control {
			continue
		}
		first := int(math.Ceil(r.Settings.Discard.Seconds()))
		for second := first; second < len(b.Seconds) && float64(second+1) <= b.For.Seconds(); second++ {
			all = append(all, float64(b.Seconds[second].Good))
		}
	}
	slices.Sort(all)
	return all
}

func (s series) at(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	return s[min(max(int(math.Ceil(q*float64(len(s))))-1, 0), len(s)-1)]
}

func (s series) moments() (mean, deviation float64) {
	for _, v := range s {
		mean += v / float64(len(s))
	}
	for _, v := range s {
		deviation += (v - mean) * (v - mean) / float64(len(s))
	}
	return mean, math.Sqrt(deviation)
}

// within is the share of values that are as near to the mean as the deviation.
func (s series) within(mean, deviation float64) float64 {
	n := 0
	for _, v := range s {
		if math.Abs(v-mean) <= deviation {
			n++
		}
	}
	return float64(n) / float64(max(len(s), 1))
}

// running is the line that both tools begin with.
func running(r *bench.Result, s *sum) string {
	target := ""
	for _, route := range r.Routes {
		if route.Left == "" {
			target = route.Target
			break
		}
	}
	address := s.Address
	if strings.Contains(address, "://") {
		address = strings.TrimSuffix(address, "/")
	}
	return fmt.Sprintf("Running %.0fs test @ %s%s", math.Ceil(s.Seconds), address, target)
}

// clients says how the load was made, where the tools print their connections.
func clients(r *bench.Result) string {
	if r.Settings.Closed > 0 {
		return fmt.Sprintf("%d connections", r.Settings.Closed)
	}
	return fmt.Sprintf("%s requests a second, open loop", number(r.Settings.Rate))
}

// uncounted says what neither tool would: the layouts hold good answers alone.
func (s *sum) uncounted() string {
	if s.Issued == s.Good {
		return ""
	}
	return fmt.Sprintf("not counted: %s bad, %s failed, %s hung (%s)", thousands(s.Bad), thousands(s.Failed), thousands(s.Hung), counts(s.Wrong))
}
