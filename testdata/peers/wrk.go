package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// runWrk asks a plain listener, over kept connections.
func runWrk(f *front, r row, seconds, connections int) (load, time.Duration, error) {
	args := []string{"-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(seconds) + "s", "--latency", "-H", "Host: " + r.Host}
	for _, h := range browser {
		args = append(args, "-H", h.name+": "+h.value)
	}
	out, cpu, err := runClient(seconds, "wrk", append(args, "http://"+f.addr+r.Path)...)
	if err != nil {
		return load{}, 0, err
	}
	l, err := parseWrk(out)
	return l, cpu, err
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
	l.Duration, errs[1] = shortTime(count[2])
	l.PerSecond, errs[2] = number(rate[1])
	l.P50, errs[3] = shortTime(p50[1])
	l.P99, errs[4] = shortTime(p99[1])
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
