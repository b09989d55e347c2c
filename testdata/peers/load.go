package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// header is a line of the requests that load a peer.
type header struct{ name, value string }

// browser is what a browser sends with a request to a Laravel application: a bare request would flatter whoever
// is slow with header lines. The cookies are encrypted by Laravel, hence their length.
var browser = []header{
	{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
	{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
	{"Accept-Language", "en-US,en;q=0.5"},
	{"Accept-Encoding", "gzip, deflate, br, zstd"},
	{"Referer", "http://shop.example/articles?page=2"},
	{"Cookie", "XSRF-TOKEN=" + strings.Repeat("eyJpdiI6I", 32) + "; laravel_session=" + strings.Repeat("kxQ2FtZT0", 32)},
	{"Upgrade-Insecure-Requests", "1"},
	{"Sec-Fetch-Dest", "document"},
	{"Sec-Fetch-Mode", "navigate"},
	{"Sec-Fetch-Site", "same-origin"},
}

// load is what the client of a row reports.
type load struct {
	Requests  int           `json:"requests"`
	Duration  time.Duration `json:"duration_ns"`
	PerSecond float64       `json:"per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	TLS       string        `json:"tls,omitempty"` // what was negotiated: version, cipher, group of the key exchange
	Bad       string        `json:"bad,omitempty"` // wrong answers and broken connections, in the client's words
}

// runLoad loads a peer from one thread, on the core of this process, and returns the CPU time that the client used.
// Every client is a closed loop: it waits for an answer before it asks for the next.
func runLoad(f *front, r row, seconds, connections int) (load, time.Duration, error) {
	switch r.Client {
	case full, resumed:
		return runHandshakes(f, r, seconds, connections)
	case http1, http2:
		return runH2load(f, r, seconds, connections)
	}
	return runWrk(f, r, seconds, connections)
}

// runClient runs a program that makes load for so many seconds, and returns what it wrote.
func runClient(seconds int, name string, args ...string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds+30)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = goEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return string(out), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// latencies fills in the quantiles; it sorts what it is given.
func (l *load) latencies(all []time.Duration) {
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	l.P50, l.P99 = all[(len(all)-1)*50/100], all[(len(all)-1)*99/100]
}

// number reads a plain decimal: ParseFloat alone would take NaN, Inf and 0x1p-2 too.
func number(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return strconv.ParseFloat(s, 64)
}

// shortTime reads what wrk and h2load make of a time: one number and one of us, ms, s, m, h.
func shortTime(s string) (time.Duration, error) {
	digits := strings.TrimRight(s, "umsh")
	units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	unit, known := units[s[len(digits):]]
	n, err := number(digits)
	if err != nil || !known || n*float64(unit) > float64(24*time.Hour) {
		return 0, fmt.Errorf("%q is no time", s)
	}
	return time.Duration(n * float64(unit)), nil
}
