package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gateway/proxy/bench"
	"gateway/proxy/bench/stat"
)

// Text writes the whole report as plain text.
func Text(w io.Writer, r *bench.Result) error { return (&text{r: r}).write(w) }

// ColorText is Text for a terminal that has colors.
func ColorText(w io.Writer, r *bench.Result) error { return (&text{r: r, color: true}).write(w) }

type text struct {
	r     *bench.Result
	color bool
	out   strings.Builder
}

func (t *text) write(w io.Writer) error {
	all := sums(t.r)
	t.head()
	t.figures()
	t.requests(all)
	t.routes()
	t.warmups()
	t.resources(all)
	t.findings()
	t.line("%s: %s. %s", t.paint(t.r.Verdict.State, colors[t.r.Verdict.State]), headline(t.r), sentence(t.r.Verdict.Text))
	_, err := io.WriteString(w, t.out.String())
	return err
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

var colors = map[string]string{bench.Valid: green, bench.Invalid: red, bench.Inconclusive: yellow}

func (t *text) paint(s, color string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

// section writes rows whose columns stand under each other, under a heading.
func (t *text) section(heading string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	t.line("%s", t.paint(heading, bold))
	columns := tabwriter.NewWriter(&t.out, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(columns, "  %s\n", strings.Join(row, "\t"))
	}
	columns.Flush() // to a strings.Builder, which does not fail
	t.line("")
}

func (t *text) head() {
	t.line("%s", t.paint(title(t.r), bold))
	for _, line := range setup(t.r) {
		t.line("  %s", line)
	}
	if len(t.r.Machine) > 0 {
		t.line("  %s", facts(t.r.Machine))
	}
	t.line("")
}

func (t *text) figures() {
	if len(t.r.Figures) == 0 {
		return
	}
	head := []string{""}
	for _, arm := range t.r.Arms {
		head = append(head, arm.Name)
	}
	if hasRatios(t.r) {
		head = append(head, t.r.Arms[1].Name+" / "+t.r.Arms[0].Name, fmt.Sprintf("%.0f %% interval", 100*t.r.Settings.Confidence), "p (Holm)")
	}
	rows := [][]string{head}
	for i := range t.r.Figures {
		rows = append(rows, t.figure(&t.r.Figures[i]))
	}
	t.section("figures", rows)
	t.out.WriteString("  The median of the blocks, and the least and the most of them.")
	if said := detectable(t.r); said != "" {
		t.out.WriteString(" " + said)
	}
	if len(t.r.Arms) == 2 && !hasRatios(t.r) {
		t.out.WriteString(" An invalid run has no ratios.")
	}
	t.line("\n")
}

func (t *text) figure(f *bench.Figure) []string {
	row := []string{nameOf(f.Name)}
	for _, s := range f.Of {
		row = append(row, spread(s, f.Unit))
	}
	switch {
	case f.Empty != "":
		return append(row, "- "+f.Empty)
	case f.Compared == nil || !hasRatios(t.r):
		return row
	}
	return append(row, fmt.Sprintf("%.3f", f.Compared.Ratio.Estimate), interval(f.Compared.Ratio), pValue(f.PHolm))
}

func spread(s bench.Spread, unit string) string {
	return fmt.Sprintf("%s (%s to %s)", amount(s.Median, unit), amount(s.Min, unit), amount(s.Max, unit))
}

func interval(i stat.Interval) string { return fmt.Sprintf("%.3f to %.3f", i.Low, i.High) }

func (t *text) requests(all []*sum) {
	rows := [][]string{{"", "blocks", "issued", "good", "bad", "failed", "hung", "good a second", "late p99", "connections opened"}}
	for _, s := range all {
		rows = append(rows, []string{
			s.Name, fmt.Sprint(s.Blocks), thousands(s.Issued), thousands(s.Good), thousands(s.Bad), thousands(s.Failed),
			thousands(s.Hung), number(s.rate()), took(s.Lateness.Quantile(0.99)), thousands(s.Opened),
		})
	}
	t.section("requests", rows)
	for _, s := range all {
		if len(s.Wrong) > 0 {
			t.line("  %s: %s\n", s.Name, counts(s.Wrong))
		}
	}
}

func (t *text) routes() {
	var rows [][]string
	for _, route := range t.r.Routes {
		rows = append(rows, []string{route.Name, learnt(route)})
	}
	t.section("routes", rows)
}

func learnt(route bench.RouteFacts) string {
	if route.Left != "" {
		return "left out: " + route.Left
	}
	return fmt.Sprintf("%d, %s to %s bytes, weight %g", route.Status, thousands(route.SizeLow), thousands(route.SizeHigh), route.Weight)
}

func (t *text) warmups() {
	var rows [][]string
	for _, arm := range t.r.Arms {
		rows = append(rows, []string{arm.Name, warmup(arm.Warmup)})
	}
	t.section("warm-up", rows)
}

func (t *text) resources(all []*sum) {
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, s.resources()})
		if len(s.Fingerprint) > 0 {
			rows = append(rows, []string{"", facts(s.Fingerprint)})
		}
	}
	t.section("resources", rows)
}

// resources says what an arm used, and who said so.
func (s *sum) resources() string {
	said := fmt.Sprintf("%s %s", s.Kind, s.Address)
	if s.Workers > 0 {
		said += fmt.Sprintf(", %d workers", s.Workers)
	}
	if s.Looked == 0 {
		return said + ", use not known"
	}
	said += fmt.Sprintf(", %d processes, %s of CPU in %d blocks, %s of memory at most (%s)",
		s.Processes, long(s.CPU), s.Looked, amount(float64(s.Peak), "bytes"), s.Source)
	if s.Restarts > 0 {
		said += fmt.Sprintf(", %d workers started anew", s.Restarts)
	}
	if s.OOMKills > 0 {
		said += fmt.Sprintf(", %d killed for want of memory", s.OOMKills)
	}
	return said
}

func (t *text) findings() {
	if len(t.r.Findings) == 0 {
		return
	}
	t.line("%s", t.paint("findings", bold))
	for _, f := range t.r.Findings {
		rule := bench.RuleOf(f.Rule)
		kind, color := "breaks", red
		if f.Flag {
			kind, color = "flag", yellow
		}
		t.line("  %s %-6s  %s: %s", t.paint(f.Rule, color), kind, rule.Title, f.Text)
		t.line("              %s %s", rule.Means, rule.Do)
	}
	t.line("")
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
