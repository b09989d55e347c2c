package bench

import (
	"fmt"
	"math"
	"strings"

	"gateway/proxy/bench/stat"
)

// equivalence is how close two arms must be shown to be before they are said to be alike.
const equivalence = 0.05

// conclude computes everything that follows from the blocks.
func (r *Result) conclude() {
	if r.Knee != nil {
		return // its verdict is that of the search
	}
	r.compute()
	r.inspect()
	r.Verdict = r.verdict()
}

func (r *Result) verdict() Verdict {
	var broken []string
	for _, f := range r.Findings {
		if !f.Flag {
			broken = append(broken, f.Rule)
		}
	}
	switch {
	case len(broken) > 0:
		return Verdict{Invalid, -1, "nothing can be concluded: " + strings.Join(unique(broken), ", ")}
	case r.Partial:
		return Verdict{Inconclusive, -1, "the run was ended before its time"}
	case len(r.Arms) < 2:
		return Verdict{Valid, -1, "one arm, measured"}
	}
	return r.compared()
}

func unique(all []string) (once []string) {
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			once = append(once, s)
		}
	}
	return once
}

// headline is the figure that decides: what an arm takes in a closed loop, else how long half of the answers take. It is
// the same for every run, so that its test needs no correction for the others.
func (r *Result) headline() *Figure {
	name := "p50"
	if r.Settings.Closed > 0 {
		name = "throughput"
	}
	for i := range r.Figures {
		if r.Figures[i].Name == name {
			return &r.Figures[i]
		}
	}
	return nil
}

func (r *Result) compared() Verdict {
	f := r.headline()
	if f == nil || f.Compared == nil {
		reason := "no pairs"
		if f != nil {
			reason = f.Empty
		}
		return Verdict{Inconclusive, -1, reason}
	}
	c := f.Compared
	a, b := r.Arms[0].Name, r.Arms[1].Name
	said := fmt.Sprintf("%s of %s is %.3f times that of %s (%.3f to %.3f)", f.Name, b, c.Ratio.Estimate, a, c.Ratio.Low, c.Ratio.High)
	alpha := 1 - r.Settings.Confidence
	switch {
	case !c.Agree:
		return Verdict{Inconclusive, -1, said + "; two ways to test it disagree"}
	case !c.Ratio.Contains(1) && c.P < alpha:
		winner := 0
		if c.Ratio.Estimate < 1 != (f.Name == "throughput") {
			winner = 1
		}
		return Verdict{Valid, winner, said}
	case stat.Equivalent(c.Ratio, equivalence):
		return Verdict{Valid, -1, fmt.Sprintf("no difference of more than %.0f %%: %s", 100*equivalence, said)}
	}
	return Verdict{Inconclusive, -1, fmt.Sprintf("%s; with %d pairs, less than %.1f %% could not have been seen",
		said, c.Pairs, 100*math.Abs(c.Detectable))}
}
