package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestParsePlainH2load(t *testing.T) {
	const report = `
finished in 4.00s, 75010.25 req/s, 9.66MB/s
requests: 300041 total, 300057 started, 300041 done, 300041 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 300042 2xx, 0 3xx, 0 4xx, 0 5xx
`
	l, err := parsePlainH2load(report)
	if err != nil || l.Requests != 300041 || l.PerSecond != 75010.25 || l.Duration != 4*time.Second {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{"", strings.Replace(report, "0 failed", "3 failed", 1), strings.Replace(report, "4.00s", "soon", 1)} {
		if _, err := parsePlainH2load(bad); err == nil {
			t.Errorf("%q is taken for a good report", bad)
		}
	}
}

// The part that generates speaks the language in which the others are read.
func TestGeneratedLoadIsReported(t *testing.T) {
	addr := connect(t, plainHTTP()).RemoteAddr().String()
	var out bytes.Buffer
	if err := generate(&out, []string{addr, "1", "4"}); err != nil {
		t.Fatal(err)
	}
	var l load
	if err := json.Unmarshal(out.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if l.Requests == 0 || l.Bad != "" || l.P50 == 0 || l.P99 < l.P50 || l.PerSecond == 0 {
		t.Errorf("%+v", l)
	}
	if err := generate(&out, []string{addr, "soon", "4"}); err == nil {
		t.Error("no number of seconds")
	}
}

func TestCostsAreHeldAgainstWrk(t *testing.T) {
	all := []generator{{name: "wrk"}, {name: "gateway"}}
	run := func(requests int, cpu time.Duration) cost {
		return cost{load{Requests: requests, PerSecond: float64(requests)}, cpu}
	}
	var out bytes.Buffer
	printCosts(&out, all, map[string][]cost{
		"wrk":     {run(1000, time.Second), run(2000, time.Second), run(1000, time.Second)},
		"gateway": {run(500, time.Second), run(1500, time.Second), run(600, time.Second)},
	})
	for _, want := range []string{"1000 (1000...2000)", "1666.67 (666.67...2000.00)", "0.60 (0.50...0.75)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}
