package report

import (
	"fmt"
	"io"

	"gateway/proxy/bench/stat"
)

// closeTo is how close two runs must be shown to be before they are said to be alike.
const closeTo = 0.05

// Text writes the comparison as plain text.
func (c *Comparison) Text(w io.Writer) error {
	var t text
	for i, run := range c.Between {
		t.line("%-6s  %s, gateway %s, seed %d, %s", [...]string{"before", "after"}[i],
			run.Started.UTC().Format("2006-01-02 15:04:05 UTC"), run.Version, run.Seed, run.Verdict)
	}
	t.line("")
	t.list("changed", c.Changed)
	t.list("differs", c.Differ)
	if len(c.Differ) > 0 {
		t.line("not to be compared: the runs were not made alike")
	}
	for _, arm := range c.Arms {
		rows := [][]string{{"", "before", "after", "after / before", fmt.Sprintf("%.0f %% interval", 100*c.Confidence), "p (Holm)", ""}}
		for _, f := range arm.Figures {
			rows = append(rows, c.row(f))
		}
		t.section(arm.Name, rows)
	}
	if len(c.Arms) > 0 {
		t.line("The blocks of two runs are not paired: what changed on the machine in between is in these ratios.")
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *text) list(heading string, lines []string) {
	var rows [][]string
	for _, line := range lines {
		rows = append(rows, []string{line})
	}
	t.section(heading, rows)
}

func (c *Comparison) row(f FigureCompared) []string {
	row := []string{nameOf(f.Name)}
	if f.Before.Median > 0 {
		row = append(row, spread(f.Before, f.Unit), spread(f.After, f.Unit))
	}
	if f.Empty != "" {
		return append(row, "- "+f.Empty)
	}
	return append(row, fmt.Sprintf("%.3f", f.Ratio.Estimate), interval(f.Ratio), pValue(f.PHolm), c.word(f))
}

// word says what a ratio shows.
func (c *Comparison) word(f FigureCompared) string {
	switch {
	case f.PHolm < 1-c.Confidence && f.Ratio.High < 1:
		return "less"
	case f.PHolm < 1-c.Confidence && f.Ratio.Low > 1:
		return "more"
	case stat.Equivalent(f.Ratio, closeTo):
		return "alike"
	}
	return "nothing shown"
}
