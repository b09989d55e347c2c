package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// What wrk 4.1.0 prints, with everything that it can.
const troubled = `Running 5s test @ http://127.0.0.1:8000/hello
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.32ms    2.20ms  48.01ms   97.55%
    Req/Sec    14.78k     2.55k   17.62k    72.00%
  Latency Distribution
     50%  980.00us
     75%    1.35ms
     90%    2.02ms
     99%    1.05s 
  73334 requests in 5.00s, 12.34MB read
  Socket errors: connect 0, read 3, write 0, timeout 1
  Non-2xx or 3xx responses: 12
Requests/sec:  14666.80
Transfer/sec:      2.47MB
`

func TestReportOfWrkIsRead(t *testing.T) {
	got, err := parseWrk(troubled)
	if err != nil {
		t.Fatal(err)
	}
	want := load{
		Requests: 73334, Duration: 5 * time.Second, PerSecond: 14666.80,
		P50: 980 * time.Microsecond, P99: 1050 * time.Millisecond,
		Bad: "Socket errors: connect 0, read 3, write 0, timeout 1; Non-2xx or 3xx responses: 12",
	}
	if got != want {
		t.Errorf("parseWrk = %+v\nwant       %+v", got, want)
	}
}

func TestReportWithoutTroubleIsGood(t *testing.T) {
	clean := strings.ReplaceAll(strings.ReplaceAll(troubled,
		"  Non-2xx or 3xx responses: 12\n", ""), "  Socket errors: connect 0, read 3, write 0, timeout 1\n", "")
	if got, err := parseWrk(clean); err != nil || got.Bad != "" {
		t.Errorf("parseWrk = %+v, %v; want nothing bad", got, err)
	}
}

func TestReportThatLacksSomethingIsAnError(t *testing.T) {
	for _, piece := range []string{"     50%  980.00us\n", "     99%    1.05s \n", "73334 requests in 5.00s, ", "Requests/sec:  14666.80\n"} {
		if got, err := parseWrk(strings.Replace(troubled, piece, "", 1)); err == nil {
			t.Errorf("without %q parseWrk = %+v, want an error", piece, got)
		}
	}
}

func FuzzParseWrk(f *testing.F) {
	f.Add(troubled)
	f.Add(strings.Replace(troubled, "14666.80", "1e999", 1))
	f.Add(strings.Replace(troubled, "980.00us", "-nanms", 1))
	f.Add(strings.Replace(troubled, "73334", "99999999999999999999", 1))
	f.Add("")
	f.Fuzz(func(t *testing.T, out string) {
		l, err := parseWrk(out)
		if err != nil {
			if l != (load{}) {
				t.Errorf("%+v beside the error %v", l, err)
			}
			return
		}
		if l.Requests < 0 || l.Duration < 0 || l.P50 < 0 || l.P99 < 0 || !(l.PerSecond >= 0) || math.IsInf(l.PerSecond, 0) {
			t.Errorf("parseWrk(%q) = %+v", out, l)
		}
	})
}
