package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"gateway/proxy/bench"
)

// Autocannon writes the arms in the layout of autocannon, of good answers alone, and the verdict below.
func Autocannon(w io.Writer, r *bench.Result) error {
	var b strings.Builder
	for arm, s := range sums(r) {
		seconds := perSecond(r, arm)
		fmt.Fprintf(&b, "%s\n%s\n\n\n", running(r, s), clients(r))
		b.WriteString(box(latencies(s)))
		b.WriteString(box(throughputs(s, seconds)))
		fmt.Fprintf(&b, "\nReq/Bytes counts sampled once per second.\n# of samples: %d\n\n", len(seconds))
		fmt.Fprintf(&b, "%s requests in %.2fs, %s read\n", cannonCount(s.Response.Count()), s.Seconds, cannonSize(float64(s.Bytes)))
		if said := s.uncounted(); said != "" {
			fmt.Fprintf(&b, "%s\n", said)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s: %s. %s\n", r.Verdict.State, headline(r), sentence(r.Verdict.Text))
	_, err := io.WriteString(w, b.String())
	return err
}

func latencies(s *sum) [][]string {
	row := []string{"Latency"}
	for _, q := range []float64{0.025, 0.5, 0.975, 0.99} {
		row = append(row, fmt.Sprintf("%d ms", s.Response.Quantile(q).Milliseconds()))
	}
	for _, v := range []float64{float64(s.Response.Mean()), float64(s.Response.Deviation())} {
		row = append(row, fmt.Sprintf("%.4g ms", v/1e6))
	}
	row = append(row, fmt.Sprintf("%d ms", s.Response.Max().Milliseconds()))
	return [][]string{{"Stat", "2.5%", "50%", "97.5%", "99%", "Avg", "Stdev", "Max"}, row}
}

// throughputs has a row of bytes, for which each answer counts as one of mean size: seconds do not keep their bytes.
func throughputs(s *sum, seconds series) [][]string {
	size := float64(s.Bytes) / float64(max(s.Response.Count(), 1))
	mean, deviation := seconds.moments()
	answers, bytes := []string{"Req/Sec"}, []string{"Bytes/Sec"}
	for _, v := range []float64{seconds.at(0.01), seconds.at(0.025), seconds.at(0.5), seconds.at(0.975), mean, deviation, seconds.at(0)} {
		answers = append(answers, cannonNumber(v))
		bytes = append(bytes, cannonSize(v*size))
	}
	return [][]string{{"Stat", "1%", "2.5%", "50%", "97.5%", "Avg", "Stdev", "Min"}, answers, bytes}
}

// box draws a table with lines around its cells.
func box(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := func(left, middle, right string) string {
		var parts []string
		for _, width := range widths {
			parts = append(parts, strings.Repeat("─", width+2))
		}
		return left + strings.Join(parts, middle) + right + "\n"
	}
	var lines []string
	for _, row := range rows {
		text := ""
		for i, cell := range row {
			text += fmt.Sprintf("│ %-*s ", widths[i], cell)
		}
		lines = append(lines, text+"│\n")
	}
	return rule("┌", "┬", "┐") + strings.Join(lines, rule("├", "┼", "┤")) + rule("└", "┴", "┘")
}

func cannonNumber(v float64) string {
	if v >= 1000 || v == math.Trunc(v) {
		return thousands(int64(math.Round(v)))
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func cannonCount(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1000)
}

func cannonSize(v float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for i < len(units)-1 && v >= 1000 {
		v /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}
