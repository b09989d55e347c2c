package report

import (
	"fmt"
	"io"
	"strings"

	"gateway/proxy/bench"
)

// Wrk writes the arms in the layout of wrk --latency, of good answers alone, and the verdict below.
func Wrk(w io.Writer, r *bench.Result) error {
	var b strings.Builder
	for arm, s := range sums(r) {
		fmt.Fprintf(&b, "%s\n  1 threads and %s\n", running(r, s), clients(r))
		wrkStats(&b, s, perSecond(r, arm))
		wrkTotals(&b, s)
	}
	fmt.Fprintf(&b, "\n%s: %s. %s\n", r.Verdict.State, headline(r), sentence(r.Verdict.Text))
	_, err := io.WriteString(w, b.String())
	return err
}

func wrkStats(b *strings.Builder, s *sum, seconds series) {
	mean, deviation := s.Response.Mean(), s.Response.Deviation()
	within := s.Response.ShareAbove(mean-deviation) - s.Response.ShareAbove(mean+deviation)
	b.WriteString("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n")
	fmt.Fprintf(b, "    Latency   %8s%10s%9s%8.2f%%\n", wrkTime(float64(mean)), wrkTime(float64(deviation)), wrkTime(float64(s.Response.Max())), 100*within)
	average, spread := seconds.moments()
	fmt.Fprintf(b, "    Req/Sec   %8s%10s%9s%8.2f%%\n", wrkCount(average), wrkCount(spread), wrkCount(seconds.at(1)),
		100*seconds.within(average, spread))
	b.WriteString("  Latency Distribution\n")
	for _, percent := range []float64{50, 75, 90, 99} {
		fmt.Fprintf(b, "%7.0f%%%10s\n", percent, wrkTime(float64(s.Response.Quantile(percent/100))))
	}
}

func wrkTotals(b *strings.Builder, s *sum) {
	fmt.Fprintf(b, "  %d requests in %.2fs, %sB read\n", s.Response.Count(), s.Seconds, wrkSize(float64(s.Bytes)))
	if said := s.uncounted(); said != "" {
		fmt.Fprintf(b, "  %s\n", said)
	}
	fmt.Fprintf(b, "Requests/sec: %9.2f\nTransfer/sec: %10sB\n", s.rate(), wrkSize(float64(s.Bytes)/max(s.Seconds, 1e-9)))
}

func wrkTime(ns float64) string { return wrkUnits(ns/1000, 1000, "us", "ms", "s ") }

func wrkCount(v float64) string { return wrkUnits(v, 1000, "  ", "k ", "M ") }

func wrkSize(v float64) string { return strings.TrimSpace(wrkUnits(v, 1024, "", "K", "M", "G")) }

func wrkUnits(v, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && v >= step {
		v /= step
		i++
	}
	return fmt.Sprintf("%.2f%s", v, units[i])
}
