// Package report shows what a bench came to: as text, as one HTML file, as JSON, for benchstat and Prometheus, in the
// layouts of wrk and autocannon, while it runs, and against another run.
package report

import (
	"fmt"
	"strings"

	"gateway/proxy/bench"
)

// hasRatios says whether the arms may be held against each other: an invalid run has no winner, and no ratio that says
// the same in other words.
func hasRatios(r *bench.Result) bool { return len(r.Arms) == 2 && r.Verdict.State != bench.Invalid }

// headline is what a run shows, for those who read one sentence of a report.
func headline(r *bench.Result) string {
	switch {
	case r.Verdict.State == bench.Invalid:
		return "Nothing can be concluded from this run"
	case r.Verdict.State == bench.Inconclusive && r.Partial:
		return "The run was ended before it could tell"
	case r.Verdict.State == bench.Inconclusive:
		return "This run does not tell which arm is faster"
	case len(r.Arms) == 1:
		return r.Arms[0].Name + " was measured"
	case r.Verdict.Winner < 0:
		return fmt.Sprintf("%s and %s do not differ by much", r.Arms[0].Name, r.Arms[1].Name)
	}
	winner, loser := r.Verdict.Winner, 1-r.Verdict.Winner
	f := r.Headline()
	if f == nil || len(f.Of) != 2 {
		return r.Arms[winner].Name + " is faster"
	}
	if f.Name == "throughput" {
		return fmt.Sprintf("%s takes more: %s answers a second, %s %s", r.Arms[winner].Name, number(f.Of[winner].Median),
			r.Arms[loser].Name, number(f.Of[loser].Median))
	}
	return fmt.Sprintf("%s is faster: half of its answers take up to %s, those of %s up to %s", r.Arms[winner].Name,
		amount(f.Of[winner].Median, f.Unit), r.Arms[loser].Name, amount(f.Of[loser].Median, f.Unit))
}

// title names the arms.
func title(r *bench.Result) string {
	var arms []string
	for _, a := range r.Arms {
		arms = append(arms, a.Name)
	}
	return strings.Join(arms, " against ")
}

// setup says in a few sentences how the run was made.
func setup(r *bench.Result) []string {
	s := r.Settings
	asked := fmt.Sprintf("%s requests a second each, %s arrivals", number(s.Rate), s.Arrivals)
	if s.Closed > 0 {
		asked = fmt.Sprintf("closed loop of %d clients", s.Closed)
	}
	measured := fmt.Sprintf("%d pairs of blocks", s.Pairs)
	if len(r.Arms) == 1 {
		measured = fmt.Sprintf("%d blocks", s.Pairs)
	}
	lines := []string{fmt.Sprintf("%s; %s of %s, the first %s not counted, %s apart", asked, measured, s.Block, s.Discard, s.Gap)}
	if r.Partial {
		lines = append(lines, fmt.Sprintf("ended before its time, after %d blocks", len(r.Blocks)))
	}
	var more []string
	if s.Via != "" {
		more = append(more, "via "+s.Via)
	}
	if s.Users > 0 {
		more = append(more, fmt.Sprintf("cookies of %d users", s.Users))
	} else if s.Cookies != "" && s.Cookies != "none" {
		more = append(more, "cookies "+s.Cookies)
	}
	if len(more) > 0 {
		lines = append(lines, strings.Join(more, ", "))
	}
	return append(lines, fmt.Sprintf("started %s, took %s, seed %d, gateway %s",
		r.Started.UTC().Format("2006-01-02 15:04:05 UTC"), long(r.Took), r.Seed, r.Version))
}

// detectable says what the run could not have seen.
func detectable(r *bench.Result) string {
	f := r.Headline()
	if f == nil || f.Compared == nil || !hasRatios(r) {
		return ""
	}
	return fmt.Sprintf("With these %d pairs, a change of the %s under %s could not have been seen.",
		f.Compared.Pairs, f.Name, percent(f.Compared.Detectable))
}

// warmup says how an arm came to its speed.
func warmup(w *bench.Warmup) string {
	if w == nil {
		return "not warmed up"
	}
	text := long(w.Took)
	if !w.Settled {
		text += ", not settled when the time was over"
	}
	if n := len(w.Windows); n > 1 {
		text += fmt.Sprintf("; p50 %s at first, %s at the end", took(w.Windows[0].P50), took(w.Windows[n-1].P50))
	}
	return text
}

// pValue writes a p as far as it is worth.
func pValue(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
