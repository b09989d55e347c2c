package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// What h2load 1.52.0 prints with -D over HTTP/2. The end came between the heads and the bodies of three answers.
const spokenHTTP2 = `starting benchmark...
spawning thread #0: 4 total client(s). Timing-based test with 0s of warm-up time and 1s of main duration for measurements.
Warm-up started for thread #0.
progress: 25% of clients started
progress: 50% of clients started
progress: 75% of clients started
progress: 100% of clients started
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
TLS Protocol: TLSv1.3
Cipher: TLS_AES_128_GCM_SHA256
Server Temp Key: X25519 253 bits
Application protocol: h2
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 1.00s, 17133.00 req/s, 468.98KB/s
requests: 17133 total, 17149 started, 17133 done, 17133 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 17136 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 468.98KB (480236) total, 67.19KB (68800) headers (space savings 95.77%), 100.39KB (102798) data
                     min         max         mean         sd        +/- sd
time for request:       44us     65.42ms       821us      3.11ms    97.69%
time for connect:     2.31ms     10.22ms      7.41ms      3.64ms    75.00%
time to 1st byte:     7.34ms     11.41ms     10.34ms      2.00ms    75.00%
req/s           :    4254.94     4308.15     4282.34       24.41    50.00%
`

func TestReportOfH2loadIsRead(t *testing.T) {
	got, err := parseH2load(spokenHTTP2, "h2")
	want := load{Requests: 17133, Duration: time.Second, PerSecond: 17133, TLS: "TLS 1.3, TLS_AES_128_GCM_SHA256, X25519"}
	if err != nil || got != want {
		t.Errorf("parseH2load = %+v, %v\nwant          %+v", got, err, want)
	}
	nist := strings.Replace(spokenHTTP2, "X25519 253 bits", "ECDH P-256 256 bits", 1)
	if got, err := parseH2load(nist, "h2"); err != nil || got.TLS != "TLS 1.3, TLS_AES_128_GCM_SHA256, ECDH P-256" {
		t.Errorf("with P-256 parseH2load = %+v, %v", got, err)
	}
}

func TestReportOfH2loadTellsWhatWentWrong(t *testing.T) {
	const requests = "17133 done, 17133 succeeded, 0 failed, 0 errored, 0 timeout"
	const status = "17136 2xx, 0 3xx, 0 4xx, 0 5xx"
	for _, c := range []struct{ name, old, new, want string }{
		{"failed", requests, "17133 done, 17132 succeeded, 1 failed, 0 errored, 0 timeout", "1 failed"},
		{"errored", requests, "17133 done, 17132 succeeded, 1 failed, 1 errored, 0 timeout", "1 errored"},
		{"timeout", requests, "17133 done, 17133 succeeded, 0 failed, 0 errored, 2 timeout", "2 timeout"},
		{"not found", status, "17135 2xx, 0 3xx, 1 4xx, 0 5xx", "1 4xx"},
		{"redirected", status, "0 2xx, 17133 3xx, 0 4xx, 0 5xx", "17133 3xx"},
		{"without a status", status, "17132 2xx, 0 3xx, 0 4xx, 0 5xx", "17132 2xx"},
		{"idle", requests, "0 done, 0 succeeded, 0 failed, 0 errored, 0 timeout", "no answer"},
		{"another protocol", "Application protocol: h2", "Application protocol: http/1.1", "spoke http/1.1 instead of h2"},
	} {
		got, err := parseH2load(strings.Replace(spokenHTTP2, c.old, c.new, 1), "h2")
		if err != nil || !strings.Contains(got.Bad, c.want) {
			t.Errorf("%s: Bad = %q, %v; want %q in it", c.name, got.Bad, err, c.want)
		}
	}
}

func TestReportOfH2loadThatLacksSomethingIsAnError(t *testing.T) {
	for _, piece := range []string{"finished in 1.00s, ", "requests: 17133 total, ", "status codes: ", "Cipher: TLS_AES_128_GCM_SHA256\n", "Application protocol: h2\n"} {
		if got, err := parseH2load(strings.Replace(spokenHTTP2, piece, "", 1), "h2"); err == nil {
			t.Errorf("without %q parseH2load = %+v, want an error", piece, got)
		}
	}
}

func TestLogOfH2loadIsRead(t *testing.T) {
	got, err := parseH2log(strings.NewReader("1796099626052169\t200\t4983\n1796099626052170\t200\t5012\n"))
	if err != nil || len(got) != 2 || got[0] != 4983*time.Microsecond || got[1] != 5012*time.Microsecond {
		t.Errorf("parseH2log = %v, %v; want 4.983ms and 5.012ms", got, err)
	}
	for _, bad := range []string{"1796099626052169\t200\n", "1\t200\t-5\n", "1\t200\tx\n", "1\t200\t99999999999999\n", "1\t200\t5\t6\n", "\n"} {
		if got, err := parseH2log(strings.NewReader(bad)); err == nil {
			t.Errorf("parseH2log(%q) = %v, want an error", bad, got)
		}
	}
}

func TestHTTP2HasNoMoreRequestsUnderWay(t *testing.T) {
	for connections, want := range map[int][2]int{1: {1, 1}, 3: {1, 3}, 6: {1, 4}, 16: {4, 4}} {
		if conns, streams := multiplexed(connections); [2]int{conns, streams} != want {
			t.Errorf("multiplexed(%d) = %d, %d; want %v", connections, conns, streams, want)
		}
	}
}

func FuzzParseH2load(f *testing.F) {
	f.Add(spokenHTTP2, "1796099626052169\t200\t4983\n")
	f.Add(strings.Replace(spokenHTTP2, "17133.00 req", "1e999 req", 1), "1\t200\t99999999999999\n")
	f.Add(strings.Replace(spokenHTTP2, "17133 done", "99999999999999999999 done", 1), "\t\t")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, out, log string) {
		l, err := parseH2load(out, "h2")
		if err != nil && l != (load{}) {
			t.Errorf("%+v beside the error %v", l, err)
		}
		if l.Requests < 0 || l.Duration < 0 || !(l.PerSecond >= 0) || math.IsInf(l.PerSecond, 0) {
			t.Errorf("parseH2load(%q) = %+v", out, l)
		}
		all, err := parseH2log(strings.NewReader(log))
		for _, took := range all {
			if err != nil || took < 0 {
				t.Errorf("parseH2log(%q) = %v, %v", log, all, err)
			}
		}
	})
}
