package lint

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"gateway/proxy/bench"
)

// Schema is the version of Report in JSON.
const Schema = 1

// Report is what can be said of some files.
type Report struct {
	Schema int          `json:"schema"`
	Files  []FileReport `json:"files"`
	// Together is nil for one file.
	Together *Together `json:"together,omitempty"`
}

// FileReport is what can be said of one file.
type FileReport struct {
	File    string        `json:"file"`
	Tool    string        `json:"tool"`
	Read    string        `json:"read"` // what was read of it, in words
	Checks  []Check       `json:"checks"`
	Verdict bench.Verdict `json:"verdict"`
}

// Together is whether the runs may be held against each other.
type Together struct {
	Checks  []Check       `json:"checks"`
	Verdict bench.Verdict `json:"verdict"`
}

// Lint checks each run, and all of them against each other.
func Lint(runs []*Run) *Report {
	l := &Report{Schema: Schema}
	for _, r := range runs {
		c := r.check()
		l.Files = append(l.Files, FileReport{r.File, r.Tool, r.Summary(), c, c.judge()})
	}
	if len(runs) > 1 {
		l.Together = l.together(runs)
	}
	return l
}

// State is the worst verdict: bench.Invalid before bench.Inconclusive before bench.Valid.
func (l *Report) State() string {
	var states []string
	for _, f := range l.Files {
		states = append(states, f.Verdict.State)
	}
	if l.Together != nil {
		states = append(states, l.Together.Verdict.State)
	}
	for _, worst := range []string{bench.Invalid, bench.Inconclusive} {
		if slices.Contains(states, worst) {
			return worst
		}
	}
	return bench.Valid
}

func (l *Report) together(runs []*Run) *Together {
	var c checks
	pages(&c, runs)
	sizes(&c, runs)
	ways(&c, runs)
	t := &Together{Checks: c, Verdict: bench.Verdict{State: bench.Inconclusive, Winner: -1}}
	var wrong []string
	for _, f := range l.Files {
		if f.Verdict.State != bench.Valid {
			wrong = append(wrong, fmt.Sprintf("%s is %s", f.File, f.Verdict.State))
		}
	}
	var differ []string
	for _, one := range c {
		if one.State != OK {
			differ = append(differ, one.Rule)
		}
	}
	switch {
	case len(wrong) > 0:
		t.Verdict.Text = "not to be compared: " + strings.Join(wrong, ", ")
	case len(differ) > 0:
		t.Verdict.Text = "not to be compared: " + strings.Join(differ, ", ")
	default:
		t.Verdict.State = bench.Valid
		t.Verdict.Text = "they asked and were answered alike; one run of each has no interval, so that no winner follows"
	}
	return t
}

// known returns one value of each run, with the file it is from, for those that have it.
func known(runs []*Run, of func(r *Run) string) (values []string, said string) {
	var list []string
	for _, r := range runs {
		if v := of(r); v != "" {
			values = append(values, v)
			list = append(list, fmt.Sprintf("%s (%s)", v, r.File))
		}
	}
	return values, strings.Join(list, " against ")
}

func differ(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// pages is V03: whether the same page was asked for.
func pages(c *checks, runs []*Run) {
	paths, said := known(runs, func(r *Run) string {
		u, err := url.Parse(r.URL)
		if r.URL == "" || err != nil {
			return ""
		}
		return "/" + strings.TrimPrefix(u.RequestURI(), "/")
	})
	if differ(paths) {
		c.add("V03", Flag, "other pages: %s", said)
	}
}

// sizes is V04. A size with the header and one without are not held against each other.
func sizes(c *checks, runs []*Run) {
	for _, head := range []bool{true, false} {
		var of []*Run
		for _, r := range runs {
			if r.Size > 0 && r.WithHead == head {
				of = append(of, r)
			}
		}
		if len(of) < 2 {
			continue
		}
		_, said := known(of, func(r *Run) string { return figure(r.Size) + " bytes" })
		bySize := func(a, b *Run) int { return int(a.Size - b.Size) }
		if ratio := slices.MaxFunc(of, bySize).Size / slices.MinFunc(of, bySize).Size; ratio > 1.02 {
			c.add("V04", Flag, "an answer has %s: not the same answer", said)
		} else {
			c.add("V04", OK, "an answer has %s", said)
		}
	}
}

// ways is V15: host, tool, load and length.
func ways(c *checks, runs []*Run) {
	for _, what := range []struct {
		name string
		of   func(r *Run) string
	}{
		{"hosts", (*Run).host},
		{"tools", func(r *Run) string { return r.Tool }},
		{"requests in flight", func(r *Run) string {
			if r.inFlight() == 0 {
				return ""
			}
			return thousands(int64(r.inFlight()))
		}},
		{"lengths of the run", func(r *Run) string {
			if r.Asked == 0 {
				return ""
			}
			return r.Asked.Round(time.Second).String()
		}},
	} {
		if values, said := known(runs, what.of); differ(values) {
			c.add("V15", Flag, "other %s: %s", what.name, said)
		}
	}
}
