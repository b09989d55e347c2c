package lint

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// number reads 1,234.5 and refuses what no tool prints: signs, exponents out of bounds, NaN and infinities.
func number(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 64)
	return v, err == nil && v >= 0 && v <= 1e15 && !math.IsNaN(v)
}

// count reads a whole number, and 0 where there is none.
func count(s string) int64 {
	v, _ := number(s)
	return int64(v)
}

// split takes a number and its unit apart: "11.58ms", "2.13 MB", "2.19k".
func split(s string) (v float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.,", r) })
	if end < 0 {
		end = len(s)
	}
	v, ok = number(s[:end])
	return v, strings.TrimSpace(s[end:]), ok
}

var timeUnits = map[string]float64{
	"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "": 1, "s": 1, "sec": 1, "secs": 1, "seconds": 1, "m": 60, "min": 60, "h": 3600,
}

// duration reads a time; what has no unit is in seconds.
func duration(s string) time.Duration {
	v, unit, ok := split(s)
	factor, known := timeUnits[unit]
	if !ok || !known {
		return 0
	}
	return seconds(v * factor)
}

// lastDigit is what one more in the last digit of a time that is printed would add.
func lastDigit(s string) time.Duration {
	_, unit, _ := split(s)
	digits := strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(s), unit), " ")
	_, decimals, _ := strings.Cut(digits, ".")
	return seconds(timeUnits[unit] * math.Pow(10, -float64(min(len(decimals), 9))))
}

// rate reads 22.65 and 2.19k.
func rate(s string) float64 {
	v, unit, ok := split(s)
	factor, known := map[string]float64{"": 1, "k": 1e3, "M": 1e6}[unit]
	if !ok || !known {
		return 0
	}
	return v * factor
}

// wrk counts in powers of 1024 and writes KB for it; oha writes KiB.
var binary = map[string]float64{
	"B": 1, "bytes": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

var decimal = map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}

func size(s string, units map[string]float64) float64 {
	v, unit, ok := split(s)
	if !ok {
		return 0
	}
	return v * units[unit]
}
