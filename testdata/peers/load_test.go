package main

import (
	"testing"
	"time"
)

func TestTimesOfClients(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Duration // 0: an error
	}{
		{in: "563.00us", want: 563 * time.Microsecond},
		{in: "1.35ms", want: 1350 * time.Microsecond},
		{in: "30.00s", want: 30 * time.Second},
		{in: "1.50m", want: 90 * time.Second},
		{in: "1.00h", want: time.Hour},
		{in: "5.00"}, {in: "ms"}, {in: ""}, {in: "-1.00s"}, {in: "nans"}, {in: "1.0sm"}, {in: "1e9h"}, {in: "999999.00h"},
	} {
		if got, err := shortTime(c.in); got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("shortTime(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
}

func TestQuantilesOfLatencies(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		p50, p99 time.Duration
	}{
		{"none", 0, 0, 0},
		{"one", 1, 1, 1},
		{"a hundred", 100, 50, 99},
		{"two hundred and one", 201, 101, 199},
	} {
		var all []time.Duration
		for i := range c.n {
			all = append(all, time.Duration(c.n-i))
		}
		var l load
		if l.latencies(all); l.P50 != c.p50 || l.P99 != c.p99 {
			t.Errorf("%s: p50 %d, p99 %d; want %d and %d", c.name, l.P50, l.P99, c.p50, c.p99)
		}
	}
}
