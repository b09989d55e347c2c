package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/report"
)

// teller says in words how far a bench is: a line for each phase and each block.
type teller struct {
	words io.Writer
	arms  []bench.Arm
	last  string
}

func newTeller(words io.Writer, arms []bench.Arm) *teller { return &teller{words: words, arms: arms} }

func (t *teller) tell(e bench.Event) {
	name := t.arms[e.Arm].Name
	if b := e.Block; b != nil {
		of := ""
		if e.All > 0 {
			of = fmt.Sprintf(" of %d", e.All)
		}
		fmt.Fprintf(t.words, "%3d%s  %-12s %6d good  p50 %9s  p95 %9s%s\n", e.Done, of, name, b.Good,
			short(b.Response.Quantile(0.5)), short(b.Response.Quantile(0.95)), wrongs(b))
		return
	}
	if phase := e.Phase + " " + name; e.Phase != "blocks" && e.Phase != "knee" && phase != t.last {
		fmt.Fprintf(t.words, "gateway: %s\n", phase)
		t.last = phase
	}
}

func wrongs(b *bench.Block) string {
	if b.Bad+b.Failed+b.Hung == 0 {
		return ""
	}
	return fmt.Sprintf("  %d bad, %d failed, %d hung", b.Bad, b.Failed, b.Hung)
}

// short is a time with three digits.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// write writes the files that were asked for, and the table.
func (b *benchOptions) write(r *bench.Result, out, words io.Writer) error {
	table := out
	for _, file := range []struct {
		name  string
		write func(io.Writer, *bench.Result) error
	}{{b.json, writeJSON}, {b.html, report.HTML}, {b.gobench, report.GoBench}} {
		switch file.name {
		case "":
		case "-":
			table = words
			if err := file.write(out, r); err != nil {
				return err
			}
		default:
			if err := writeWhole(file.name, func(w io.Writer) error { return file.write(w, r) }); err != nil {
				return err
			}
		}
	}
	if b.view != nil {
		return b.view(table, r)
	}
	printResult(table, r)
	return nil
}

func writeJSON(w io.Writer, r *bench.Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(r)
}

// writeWhole writes a file whole or not at all.
func writeWhole(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".new")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	err = write(file)
	if failed := file.Close(); err == nil {
		err = failed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	return err
}

// printResult prints what a bench shows.
func printResult(out io.Writer, r *bench.Result) {
	for _, route := range r.Routes {
		if route.Left != "" {
			fmt.Fprintf(out, "left out: %s: %s\n", route.Name, route.Left)
		}
	}
	if r.Knee != nil {
		printKnee(out, r)
	} else {
		printFigures(out, r)
	}
	for _, f := range r.Findings {
		note := ""
		if f.Flag {
			note = "note "
		}
		fmt.Fprintf(out, "%s%s  %s\n", note, f.Rule, f.Text)
	}
	fmt.Fprintf(out, "\n%s: %s\n", r.Verdict.State, r.Verdict.Text)
	if r.Verdict.Winner >= 0 {
		fmt.Fprintf(out, "The winner is %s.\n", r.Arms[r.Verdict.Winner].Name)
	}
}

// how says what the figures are of: the same words mean other things in an open and in a closed loop.
func how(s bench.Settings) string {
	if s.Closed > 0 {
		return fmt.Sprintf("Closed loop of %s that wait for each answer: for the throughput, not for latencies.", counted(s.Closed, "client"))
	}
	return fmt.Sprintf("%.1f requests a second to each arm (%s arrivals); times from when a request was due to the end of its answer.", s.Rate, s.Arrivals)
}

func printFigures(out io.Writer, r *bench.Result) {
	fmt.Fprintf(out, "%s\n\n", how(r.Settings))
	fmt.Fprintf(out, "%-16s", "")
	for _, arm := range r.Arms {
		fmt.Fprintf(out, "  %-32s", arm.Name)
	}
	if len(r.Arms) == 2 {
		fmt.Fprintf(out, "  %s / %s", r.Arms[1].Name, r.Arms[0].Name)
	}
	fmt.Fprintln(out)
	for _, f := range r.Figures {
		fmt.Fprintf(out, "%-16s", f.Name)
		for _, s := range f.Of {
			fmt.Fprintf(out, "  %-32s", fmt.Sprintf("%s (%s...%s)", figure(f.Unit, s.Median), figure(f.Unit, s.Min), figure(f.Unit, s.Max)))
		}
		if c := f.Compared; c != nil {
			fmt.Fprintf(out, "  %.3f (%.3f to %.3f)", c.Ratio.Estimate, c.Ratio.Low, c.Ratio.High)
		}
		if f.Empty != "" {
			fmt.Fprintf(out, "  %s", f.Empty)
		}
		fmt.Fprintln(out)
	}
}

func figure(unit string, v float64) string {
	switch unit {
	case "ns":
		return short(time.Duration(v))
	case "bytes":
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	}
	return fmt.Sprintf("%.1f", v)
}

func printKnee(out io.Writer, r *bench.Result) {
	fmt.Fprintf(out, "p95 within %s\n", short(r.Knee.SLO))
	for arm, a := range r.Knee.Arms {
		fmt.Fprintf(out, "\n%s\n", r.Arms[arm].Name)
		for _, s := range a.Steps {
			said := "kept"
			if !s.Passed {
				said = "not kept: " + s.Why
			}
			fmt.Fprintf(out, "  %-8s %8.1f/s  p50 %9s  p95 %9s  %5.1f under way  %s\n", s.Phase, s.Offered,
				short(s.Response.Quantile(0.5)), short(s.Response.Quantile(0.95)), s.MeanInFlight, said)
		}
		if a.Capacity == nil {
			fmt.Fprintln(out, "  no capacity was confirmed")
			continue
		}
		fmt.Fprintf(out, "  capacity %.1f/s (%.1f to %.1f), bound by %s\n", a.Capacity.Estimate, a.Capacity.Low, a.Capacity.High, a.Bound)
		if a.Law > 0 {
			fmt.Fprintf(out, "  all workers always busy would make %.1f/s\n", a.Law)
		}
		if a.PerCPU > 0 {
			fmt.Fprintf(out, "  %.1f for each second of CPU time\n", a.PerCPU)
		}
		if u := a.USL; u != nil {
			fmt.Fprintf(out, "  law of scalability: %.1f/s alone, %.3f in series (%.3f to %.3f), %.5f crosstalk (%.5f to %.5f)\n",
				u.Lambda.Estimate, u.Sigma.Estimate, u.Sigma.Low, u.Sigma.High, u.Kappa.Estimate, u.Kappa.Low, u.Kappa.High)
		}
	}
}
