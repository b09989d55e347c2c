package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"gateway/proxy/bench"
)

// Prometheus writes a result as gauges in the text format of Prometheus, to be scraped from a file or pushed.
func Prometheus(w io.Writer, r *bench.Result) error {
	p := &gauges{r: r}
	p.figures()
	p.ratios()
	p.requests()
	p.verdict()
	_, err := io.WriteString(w, p.out.String())
	return err
}

type gauges struct {
	r   *bench.Result
	out strings.Builder
}

func (p *gauges) head(name, help string) {
	fmt.Fprintf(&p.out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

// sample writes one value. labels are names and values in turn.
func (p *gauges) sample(name string, v float64, labels ...string) {
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, labels[i]+`="`+escape.Replace(labels[i+1])+`"`)
	}
	if len(pairs) > 0 {
		name += "{" + strings.Join(pairs, ",") + "}"
	}
	fmt.Fprintf(&p.out, "%s %s\n", name, strconv.FormatFloat(v, 'g', -1, 64))
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// quantiles are the figures that are one.
var quantiles = map[string]string{"p50": "0.5", "p95": "0.95", "p99": "0.99"}

// gaugeNames are the other figures.
var gaugeNames = map[string][2]string{
	"throughput":      {"gateway_bench_good_per_second", "Good answers a second."},
	"cpu_per_request": {"gateway_bench_cpu_seconds_per_request", "CPU time of an arm for each good answer."},
	"memory":          {"gateway_bench_memory_bytes", "Memory of an arm at the end of a block."},
}

func (p *gauges) figures() {
	const response = "gateway_bench_response_seconds"
	p.head(response, "Response time, the median over the blocks.")
	for _, f := range p.r.Figures {
		if q := quantiles[f.Name]; q != "" {
			for arm, s := range f.Of {
				p.sample(response, s.Median/1e9, "arm", p.r.Arms[arm].Name, "quantile", q)
			}
		}
	}
	for _, f := range p.r.Figures {
		gauge, known := gaugeNames[f.Name]
		if !known || len(f.Of) == 0 {
			continue
		}
		p.head(gauge[0], gauge[1])
		for arm, s := range f.Of {
			v := s.Median
			if f.Unit == "ns" {
				v /= 1e9
			}
			p.sample(gauge[0], v, "arm", p.r.Arms[arm].Name)
		}
	}
}

func (p *gauges) ratios() {
	if !hasRatios(p.r) {
		return
	}
	const ratio = "gateway_bench_ratio"
	p.head(ratio, "The second arm's figure over the first's, and the ends of its interval.")
	for _, f := range p.r.Figures {
		if f.Compared == nil {
			continue
		}
		i := f.Compared.Ratio
		p.sample(ratio, i.Estimate, "figure", f.Name, "bound", "estimate")
		p.sample(ratio, i.Low, "figure", f.Name, "bound", "low")
		p.sample(ratio, i.High, "figure", f.Name, "bound", "high")
	}
}

func (p *gauges) requests() {
	const requests = "gateway_bench_requests"
	p.head(requests, "Requests of the measured part, by how they ended.")
	for _, s := range sums(p.r) {
		for _, outcome := range []struct {
			name string
			n    int64
		}{{"good", s.Good}, {"bad", s.Bad}, {"failed", s.Failed}, {"hung", s.Hung}} {
			p.sample(requests, float64(outcome.n), "arm", s.Name, "outcome", outcome.name)
		}
	}
}

func (p *gauges) verdict() {
	p.head("gateway_bench_verdict", "1 for what the run came to.")
	for _, state := range []string{bench.Valid, bench.Invalid, bench.Inconclusive} {
		p.sample("gateway_bench_verdict", one(p.r.Verdict.State == state), "state", state)
	}
	if p.r.Verdict.State == bench.Valid {
		p.head("gateway_bench_winner", "1 for the arm that is faster.")
		for i, arm := range p.r.Arms {
			p.sample("gateway_bench_winner", one(p.r.Verdict.Winner == i), "arm", arm.Name)
		}
	}
	broken := map[string]int{}
	for _, f := range p.r.Findings {
		broken[f.Rule]++
	}
	p.head("gateway_bench_findings", "Findings by rule.")
	for _, rule := range bench.Rules() {
		p.sample("gateway_bench_findings", float64(broken[rule.ID]), "rule", rule.ID)
	}
	p.head("gateway_bench_started_timestamp_seconds", "When the run was started.")
	p.sample("gateway_bench_started_timestamp_seconds", float64(p.r.Started.UnixMilli())/1000)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
