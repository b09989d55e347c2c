package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func smallReport() *report {
	bad := taken(1, "caddy", 300)
	bad.Invalid = "Non-2xx or 3xx responses: 4"
	return &report{
		Facts: []fact{{"Machine", "a small one"}}, Settled: settled{Rounds: 1, Seconds: 2, Connections: 3},
		Cores: cores{Pinned: true, Front: 0, Back: 1}, Rows: allRows()[:2], Peers: allPeers()[:4],
		Samples: []sample{taken(1, reference, 1000), taken(1, "gateway", 1500), bad},
	}
}

const smallTables = `
### (a) a trivial FastCGI responder

| peer    | requests/s         | p50 ms             | p99 ms             | CPU/request µs           | core in use |
|---------|--------------------|--------------------|--------------------|--------------------------|-------------|
| nginx   | 1000 (1000...1000) | 1.00 (1.00...1.00) | 2.00 (2.00...2.00) | 1000.0 (1000.0...1000.0) | 50 %        |
| caddy   | INVALID            |                    |                    |                          |             |
| gateway | 1500 (1500...1500) | 0.67 (0.67...0.67) | 1.33 (1.33...1.33) | 666.7 (666.7...666.7)    | 50 %        |

caddy is INVALID: Non-2xx or 3xx responses: 4

Against nginx, round by round:

| peer    | requests/s         | p50                | p99                | CPU/request        |
|---------|--------------------|--------------------|--------------------|--------------------|
| gateway | 1.50 (1.50...1.50) | 0.67 (0.67...0.67) | 0.67 (0.67...0.67) | 0.67 (0.67...0.67) |
`

func TestTables(t *testing.T) {
	var got strings.Builder
	smallReport().tables(&got)
	if got.String() != smallTables {
		t.Errorf("tables:\n%s\nwant:\n%s", got.String(), smallTables)
	}
}

func TestOnlyACompleteRunReplacesThePage(t *testing.T) {
	root := t.TempDir()
	testdata := filepath.Join(root, "testdata")
	if err := os.MkdirAll(filepath.Join(testdata, "var"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(root, "BENCHMARKS.md")
	r := smallReport()
	if kept, err := r.keep(testdata, "some.json"); err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v; want the samples alone", kept, err)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a run over some rows has replaced the page")
	}
	r.complete = true
	if _, err := r.keep(testdata, "all.json"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a small one", "the peer on core 0", "1 rounds, 2 s", "caddy is INVALID", "## Not measured"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestSamplesAreKeptWhole(t *testing.T) {
	testdata := t.TempDir()
	if err := os.Mkdir(filepath.Join(testdata, "var"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := smallReport()
	kept, err := r.keep(testdata, "some.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	var again report
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if len(again.Samples) != 3 || again.Samples[1] != r.Samples[1] || again.Samples[2].Invalid == "" || again.valid() {
		t.Errorf("samples = %+v, want %+v", again.Samples, r.Samples)
	}
}
