package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gateway/proxy/bench"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML writes the report as one file that needs no script and no other host.
func HTML(w io.Writer, r *bench.Result) error {
	// Whole or not at all: half a page looks like a report.
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, newPage(r)); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// page is what the template shows.
type page struct {
	Title, Headline, State, Verdict, Detectable string
	Setup                                       []string
	Arms                                        []*sum
	Ratios                                      string // heading of that column; empty hides it
	Confidence                                  string
	Invalid                                     bool
	Figures                                     []figureRow
	Charts                                      []*chart
	Findings                                    []findingRow
	Requests                                    []requestRow
	Routes                                      []bench.RouteFacts
	Machine                                     map[string]string
	Command                                     string
}

type figureRow struct {
	Name, Empty        string
	Of                 []string
	Ratio, Interval, P string
}

type findingRow struct {
	bench.Rule
	Flag bool
	Text string
}

type requestRow struct {
	Name, Class, Issued, Good, Bad, Failed, Hung, Rate, Late, Opened, Wrong, Warmup, Resources string
	Fingerprint                                                                                map[string]string
}

func newPage(r *bench.Result) *page {
	all := sums(r)
	p := &page{
		Title: title(r), Headline: headline(r), State: r.Verdict.State, Verdict: sentence(r.Verdict.Text),
		Detectable: detectable(r), Setup: setup(r), Arms: all, Invalid: r.Verdict.State == bench.Invalid,
		Confidence: fmt.Sprintf("%.0f %% interval", 100*r.Settings.Confidence),
		Routes:     r.Routes, Machine: r.Machine, Command: strings.Join(r.Command, " "),
	}
	if hasRatios(r) {
		p.Ratios = r.Arms[1].Name + " / " + r.Arms[0].Name
	}
	for i := range r.Figures {
		p.Figures = append(p.Figures, newFigureRow(&r.Figures[i], p.Ratios != ""))
	}
	for _, f := range r.Findings {
		p.Findings = append(p.Findings, findingRow{bench.RuleOf(f.Rule), f.Flag, f.Text})
	}
	for i, s := range all {
		p.Requests = append(p.Requests, newRequestRow(i, s))
	}
	for _, c := range []*chart{distribution(r, all), overTime(r), pairs(r), bars(r, "cpu_per_request"), bars(r, "memory")} {
		if c != nil {
			p.Charts = append(p.Charts, c)
		}
	}
	return p
}

func newFigureRow(f *bench.Figure, ratios bool) figureRow {
	row := figureRow{Name: nameOf(f.Name), Empty: f.Empty}
	for _, s := range f.Of {
		row.Of = append(row.Of, spread(s, f.Unit))
	}
	if ratios && f.Compared != nil {
		row.Ratio = fmt.Sprintf("%.3f", f.Compared.Ratio.Estimate)
		row.Interval, row.P = interval(f.Compared.Ratio), pValue(f.PHolm)
	}
	return row
}

func newRequestRow(arm int, s *sum) requestRow {
	return requestRow{
		Name: s.Name, Class: armClass(arm), Issued: thousands(s.Issued), Good: thousands(s.Good), Bad: thousands(s.Bad),
		Failed: thousands(s.Failed), Hung: thousands(s.Hung), Rate: number(s.rate()), Late: took(s.Lateness.Quantile(0.99)),
		Opened: thousands(s.Opened), Wrong: counts(s.Wrong), Warmup: warmup(s.Warmup), Resources: s.resources(),
		Fingerprint: s.Fingerprint,
	}
}

// Learnt says for a route what its good answers look like.
func (p *page) Learnt(route bench.RouteFacts) string { return learnt(route) }

// Columns is how many columns the table of figures has.
func (p *page) Columns() int {
	if p.Ratios == "" {
		return len(p.Arms)
	}
	return len(p.Arms) + 3
}

// Rest is how many columns a row without figures has to fill.
func (p *page) Rest(f figureRow) int { return p.Columns() - len(f.Of) }
