package conf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// parseDuration reads "30s", "1h30m", "1.5h" or "30d".
func parseDuration(s string) (time.Duration, error) {
	if s == "" {
		return 0, errors.New("nothing there")
	}
	total := new(big.Rat)
	for s != "" {
		number, unit, rest := nextQuantity(s)
		scale, known := durationUnits[unit]
		amount, ok := new(big.Rat).SetString(number)
		switch {
		case !ok:
			return 0, fmt.Errorf("no number before %q", unit+rest)
		case unit == "":
			return 0, errors.New("no unit")
		case !known:
			return 0, fmt.Errorf("unknown unit %q", unit)
		}
		total.Add(total, amount.Mul(amount, new(big.Rat).SetInt64(int64(scale))))
		s = rest
	}
	if !total.IsInt() || !total.Num().IsInt64() {
		return 0, errors.New("too long or too fine")
	}
	return time.Duration(total.Num().Int64()), nil
}

// nextQuantity splits "1h30m" into "1", "h" and "30m". A number has at most 18 digits, so that no input
// makes the arithmetic slow.
func nextQuantity(s string) (number, unit, rest string) {
	i := 0
	for i < len(s) && i < 18 && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	j := i
	for j < len(s) && (s[j] < '0' || s[j] > '9') && s[j] != '.' {
		j++
	}
	return s[:i], s[i:j], s[j:]
}

var sizeUnits = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// parseSize reads "64KiB" or "512B". Units of 1000 are refused: nobody knows what others mean by "MB".
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit := s[len(digits):]
	scale, known := sizeUnits[unit]
	number, err := strconv.ParseUint(digits, 10, 63)
	n := int64(number)
	switch {
	case err != nil:
		return 0, errors.New("no whole number")
	case unit == "":
		return 0, errors.New("no unit")
	case !known:
		return 0, fmt.Errorf("unknown unit %q%s", unit, meantUnit(unit))
	case n > math.MaxInt64/scale:
		return 0, errors.New("too large")
	}
	return n * scale, nil
}

func meantUnit(unit string) string {
	letter := strings.ToUpper(strings.TrimSpace(unit))
	if letter == "" || !strings.Contains("KMGT", letter[:1]) {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", letter[:1]+"iB")
}

// parseShare turns a percentage as written into hundredths of a percent.
func parseShare(number string) (int, error) {
	percent, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil || !(percent >= 0 && percent <= 100) {
		return 0, errors.New("out of range")
	}
	share := math.Round(percent * 100)
	if math.Abs(percent*100-share) > 1e-6 {
		return 0, errors.New("finer than a hundredth")
	}
	return int(share), nil
}
