package report

import (
	"math"
	"strconv"
	"time"
)

// number writes v with three digits that count, and thousands apart.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e15 || math.IsNaN(v):
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 99.95:
		return thousands(int64(math.Round(v)))
	case size >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case size == 0:
		return "0"
	case size < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// thousands writes 62950 as 62,950.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// scaled writes v in the largest of the units that it reaches. Each is so many times the one before.
func scaled(v, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && math.Abs(v) >= 0.9995*step {
		v /= step
		i++
	}
	return number(v) + " " + units[i]
}

// amount writes a figure in its unit.
func amount(v float64, unit string) string {
	switch unit {
	case "ns":
		return scaled(v, 1000, "ns", "µs", "ms", "s")
	case "bytes":
		return scaled(v, 1000, "B", "kB", "MB", "GB", "TB")
	case "1/s":
		return number(v) + " /s"
	}
	return number(v) + " " + unit
}

func took(d time.Duration) string { return amount(float64(d), "ns") }

// long writes a time of seconds and more as one says it: 6m10s.
func long(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + " %" }

// names are the figures in words.
var names = map[string]string{
	"p50": "p50 response", "p95": "p95 response", "p99": "p99 response", "throughput": "answers a second",
	"cpu_per_request": "CPU per request", "memory": "memory",
}

func nameOf(figure string) string {
	if name := names[figure]; name != "" {
		return name
	}
	return figure
}
