package lint

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"gateway/proxy/bench"
)

// thousands writes 62950 as 62,950.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// figure writes a number with as many digits as it is worth.
func figure(v float64) string {
	if v >= 100 {
		return thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Summary says in two lines what was read of a run.
func (r *Run) Summary() string {
	if r.Tool == "table" {
		return "a table: " + strings.Join(r.Columns, ", ")
	}
	parts := []string{r.Tool}
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(r.URL != "", "%s", r.URL)
	add(r.inFlight() > 0, "%s in flight", thousands(int64(r.inFlight())))
	add(r.Took > 0, "%s", r.Took.Round(10*time.Millisecond))
	parts[len(parts)-1] += "\n  " + thousands(r.Answers) + " answers"
	add(r.PerSecond > 0, "%s a second", figure(r.PerSecond))
	add(r.Mean > 0, "mean %s", r.Mean)
	add(r.Size > 0, "%s bytes an answer", figure(r.Size))
	return strings.Join(parts, ", ")
}

// Print writes the report as text: a block for each file, and one for all of them when there are several.
func (l *Report) Print(w io.Writer) {
	for i := range l.Files {
		f := &l.Files[i]
		fmt.Fprintf(w, "%s\n  %s\n", f.File, f.Read)
		printChecks(w, f.Checks, f.Verdict)
	}
	if l.Together != nil {
		fmt.Fprintf(w, "together\n")
		printChecks(w, l.Together.Checks, l.Together.Verdict)
	}
}

func printChecks(w io.Writer, checks []Check, verdict bench.Verdict) {
	for _, c := range checks {
		fmt.Fprintf(w, "  %s %-8s %s\n", c.Rule, c.State, c.Text)
		if c.State == Broken {
			rule := bench.RuleOf(c.Rule)
			fmt.Fprintf(w, "               %s %s\n", rule.Means, rule.Do)
		}
	}
	text := ""
	if verdict.Text != "" {
		text = ": " + verdict.Text
	}
	fmt.Fprintf(w, "  %s%s\n\n", verdict.State, text)
}
