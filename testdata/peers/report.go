package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// report is a whole run: everything that its tables are made from.
type report struct {
	Facts    []fact   `json:"facts"`
	Settled  settled  `json:"settings"`
	Cores    cores    `json:"cores"`
	Rows     []row    `json:"rows"`
	Peers    []peer   `json:"peers"`
	LeftOut  []string `json:"left_out,omitempty"`
	Samples  []sample `json:"samples"`
	complete bool     // all rows and peers, and enough rounds to be kept
}

// fewestRounds is what a comparison needs to show how far its figures reach.
const fewestRounds = 5

// valid says whether every figure counts.
func (r *report) valid() bool { return len(invalid(r.Samples)) == 0 }

// tables writes what was measured, a table of figures and one of ratios for each row.
func (r *report) tables(w io.Writer) {
	for _, row := range r.Rows {
		lines := summarize(r.Samples, row.Key, r.Peers)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n### (%s) %s\n\n", row.Key, row.Title)
		writeTable(w, valueTable(lines))
		for _, l := range lines {
			for _, reason := range l.Invalid {
				fmt.Fprintf(w, "\n%s is INVALID: %s\n", l.Peer, reason)
			}
		}
		if table := ratioTable(lines); len(table) > 1 {
			fmt.Fprintf(w, "\nAgainst %s, round by round:\n\n", reference)
			writeTable(w, table)
		}
	}
}

func valueTable(lines []line) [][]string {
	head := []string{"peer"}
	for _, f := range figures {
		head = append(head, strings.TrimSpace(f.Name+" "+f.Unit))
	}
	table := [][]string{append(head, "core in use")}
	for _, l := range lines {
		cells := []string{l.Peer}
		for i, value := range l.Values {
			cells = append(cells, value.text(figures[i].form))
		}
		if len(l.Invalid) > 0 {
			cells = append(cells, "INVALID")
		} else {
			cells = append(cells, fmt.Sprintf("%.0f %%", 100*l.Busy.Median))
		}
		table = append(table, pad(cells, len(table[0])))
	}
	return table
}

func ratioTable(lines []line) [][]string {
	head := []string{"peer"}
	for _, f := range figures {
		head = append(head, f.Name)
	}
	table := [][]string{head}
	for _, l := range lines {
		if l.Peer == reference || len(l.Ratios) == 0 {
			continue
		}
		cells := []string{l.Peer}
		for _, ratio := range l.Ratios {
			cells = append(cells, ratio.text("%.2f"))
		}
		table = append(table, cells)
	}
	return table
}

func pad(cells []string, n int) []string {
	return append(cells, make([]string, max(0, n-len(cells)))...)
}

// text is the median and, in brackets, the smallest and the largest.
func (s spread) text(form string) string {
	return fmt.Sprintf(form+" ("+form+"..."+form+")", s.Median, s.Min, s.Max)
}

// writeTable writes Markdown with columns as wide as their cells, to be read as it stands too.
func writeTable(w io.Writer, table [][]string) {
	width := make([]int, len(table[0]))
	for _, cells := range table {
		for i, cell := range cells {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for n, cells := range table {
		fmt.Fprint(w, "|")
		for i, cell := range cells {
			fmt.Fprintf(w, " %-*s |", width[i], cell)
		}
		fmt.Fprintln(w)
		if n == 0 {
			fmt.Fprint(w, "|")
			for _, n := range width {
				fmt.Fprint(w, strings.Repeat("-", n+2), "|")
			}
			fmt.Fprintln(w)
		}
	}
}

// noise says how far the machine was not ours alone.
func (r *report) noise() string {
	others := spreadOf(values(r.Samples, func(s sample) float64 { return s.Others }))
	stolen := spreadOf(values(r.Samples, func(s sample) float64 { return s.Stolen }))
	return fmt.Sprintf("other programs used %s cores, the hypervisor took %s", others.text("%.2f"), stolen.text("%.2f"))
}

// keep writes the samples to testdata/var and, for a complete run, BENCHMARKS.md. It returns the names of both.
func (r *report) keep(testdata, name string) ([]string, error) {
	raw, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(testdata, "var", name)
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		return nil, err
	}
	if !r.complete {
		return []string{path}, nil
	}
	var page strings.Builder
	r.page(&page)
	kept := filepath.Join(filepath.Dir(testdata), "BENCHMARKS.md")
	return []string{path, kept}, os.WriteFile(kept, []byte(page.String()), 0o644)
}

// page writes BENCHMARKS.md.
func (r *report) page(w io.Writer) {
	fmt.Fprint(w, pageHead)
	fmt.Fprint(w, "## This run\n\n")
	facts := append(slices.Clone(r.Facts),
		fact{"Settings", fmt.Sprintf("%d rounds, %d s each after %d s of warm-up, %d requests under way, clients of 1 thread",
			r.Settled.Rounds, r.Settled.Seconds, warmUp, r.Settled.Connections)},
		fact{"Cores", r.Cores.String()},
		fact{"Disturbance", r.noise()})
	table := [][]string{{"what", "value"}}
	for _, f := range facts {
		table = append(table, []string{f.Name, f.Value})
	}
	writeTable(w, table)
	for _, missing := range r.LeftOut {
		fmt.Fprintf(w, "\n**Left out: %s.**\n", missing)
	}
	fmt.Fprint(w, "\n## Peers\n\n")
	table = [][]string{{"peer", "what"}}
	for _, p := range r.Peers {
		table = append(table, []string{p.Key, p.What})
	}
	writeTable(w, table)
	fmt.Fprint(w, "\n## Figures\n")
	r.tables(w)
	fmt.Fprint(w, pageTail)
}
