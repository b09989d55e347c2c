package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// header is a line of wrk's requests.
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

// load is what wrk reports.
type load struct {
	Requests  int           `json:"requests"`
	Duration  time.Duration `json:"duration_ns"`
	PerSecond float64       `json:"per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	Bad       string        `json:"bad,omitempty"` // answers other than 2xx and 3xx, and socket errors, in wrk's words
}

// runWrk loads a peer from one thread, on the core of this process. wrk is a closed loop: each connection waits
// for its answer before it asks again.
func runWrk(f *front, r row, seconds, connections int) (load, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds+30)*time.Second)
	defer cancel()
	args := []string{"-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(seconds) + "s", "--latency", "-H", "Host: " + r.Host}
	for _, h := range browser {
		args = append(args, "-H", h.name+": "+h.value)
	}
	cmd := exec.CommandContext(ctx, "wrk", append(args, "http://"+f.addr+r.Path)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return load{}, 0, fmt.Errorf("wrk: %w: %s", err, out)
	}
	l, err := parseWrk(string(out))
	return l, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

var (
	wrkCount   = regexp.MustCompile(`(?m)^\s*(\d+) requests in (\S+), `)
	wrkRate    = regexp.MustCompile(`(?m)^Requests/sec:\s+(\S+)$`)
	wrkP50     = regexp.MustCompile(`(?m)^\s+50%\s+(\S+)\s*$`)
	wrkP99     = regexp.MustCompile(`(?m)^\s+99%\s+(\S+)\s*$`)
	wrkTrouble = regexp.MustCompile(`(?m)^\s*(Socket errors: .*|Non-2xx or 3xx responses: .*)$`)
)

// parseWrk reads the report that wrk --latency prints.
func parseWrk(out string) (load, error) {
	var l load
	count := wrkCount.FindStringSubmatch(out)
	rate := wrkRate.FindStringSubmatch(out)
	p50, p99 := wrkP50.FindStringSubmatch(out), wrkP99.FindStringSubmatch(out)
	if count == nil || rate == nil || p50 == nil || p99 == nil {
		return load{}, fmt.Errorf("wrk: not its report: %q", out)
	}
	var errs [5]error
	l.Requests, errs[0] = strconv.Atoi(count[1])
	l.Duration, errs[1] = wrkTime(count[2])
	l.PerSecond, errs[2] = number(rate[1])
	l.P50, errs[3] = wrkTime(p50[1])
	l.P99, errs[4] = wrkTime(p99[1])
	if err := errors.Join(errs[:]...); err != nil {
		return load{}, fmt.Errorf("wrk: %w", err)
	}
	var bad []string
	for _, line := range wrkTrouble.FindAllStringSubmatch(out, -1) {
		bad = append(bad, line[1])
	}
	l.Bad = strings.Join(bad, "; ")
	return l, nil
}

// number reads a plain decimal: ParseFloat alone would take NaN, Inf and 0x1p-2 too.
func number(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return strconv.ParseFloat(s, 64)
}

// wrkTime reads what wrk makes of a time: one number and one of us, ms, s, m, h.
func wrkTime(s string) (time.Duration, error) {
	digits := strings.TrimRight(s, "umsh")
	units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	unit, known := units[s[len(digits):]]
	n, err := number(digits)
	if err != nil || !known || n*float64(unit) > float64(24*time.Hour) {
		return 0, fmt.Errorf("%q is no time", s)
	}
	return time.Duration(n * float64(unit)), nil
}
