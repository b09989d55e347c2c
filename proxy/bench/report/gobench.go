package report

import (
	"fmt"
	"io"
	"strings"

	"gateway/proxy/bench"
)

// benchNames are the figures as benchmarks are named, and benchUnits their units as benchstat knows them.
var (
	benchNames = map[string]string{
		"p50": "P50", "p95": "P95", "p99": "P99", "throughput": "Throughput", "cpu_per_request": "CPUPerRequest", "memory": "Memory",
	}
	benchUnits = map[string]string{"ns": "ns/op", "bytes": "B", "1/s": "req/s"}
)

// GoBench writes every block's figures in the format of Go's benchmarks: benchstat -col /arm makes a table of them. An
// invalid run has none, since that table would name a winner; its comment says so.
func GoBench(w io.Writer, r *bench.Result) error {
	var b strings.Builder
	if r.Verdict.State == bench.Invalid {
		fmt.Fprintf(&b, "# %s: %s\n", r.Verdict.State, r.Verdict.Text)
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("Unit req/s better=higher\nUnit B better=lower\n")
	for _, f := range r.Figures {
		for i := range r.Blocks {
			block := &r.Blocks[i]
			v, ok := r.Value(f.Name, block)
			if block.Control || !ok || len(f.Of) == 0 {
				continue
			}
			fmt.Fprintf(&b, "Benchmark%s/arm=%s %d %.6g %s\n", benchNames[f.Name], word(r.Arms[block.Arm].Name), block.Good, v, benchUnits[f.Unit])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// word makes one word of a name: a space would end it there, and a slash begin another key.
func word(name string) string {
	return strings.Map(func(c rune) rune {
		if c <= ' ' || c == '/' || c == 0x7f {
			return '_'
		}
		return c
	}, name)
}
