package conf

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0s": 0, "500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "10m": 10 * time.Minute,
		"1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "30d": 720 * time.Hour, "0.1s": 100 * time.Millisecond,
	} {
		if got, err := parseDuration(in); err != nil || got != want {
			t.Errorf("%q = %v, %v, want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "nothing there", "30": "no unit", "s": "no number", "1x": `unknown unit "x"`, "1.2.3s": "no number",
		"-1s": "no number", "1h 30m": `unknown unit "h "`, "200000d": "too long", "0.0000001ms": "too long or too fine",
		strings.Repeat("9", 40) + "s": "no unit", "1e9s": `unknown unit "e"`,
	} {
		if _, err := parseDuration(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %s", in, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]int64{
		"0B": 0, "512B": 512, "64KiB": 64 << 10, "128MiB": 128 << 20, "1GiB": 1 << 30, "8388607TiB": 8388607 << 40,
	} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("%q = %v, %v, want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "no whole number", "1": "no unit", "MiB": "no whole number", "1.5MiB": "no whole number", "-1B": "no whole number",
		"1KB": `"KB"; did you mean "KiB"?`, "1m": `"m"; did you mean "MiB"?`, "1 KiB": `did you mean "KiB"?`, "1x": `unknown unit "x"`,
		"8388608TiB": "too large", "99999999999999999999B": "no whole number", "1PiB": `unknown unit "PiB"`,
	} {
		if _, err := parseSize(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %s", in, err, want)
		}
	}
}

func TestShares(t *testing.T) {
	for in, want := range map[string]int{"0": 0, "5": 500, "0.07": 7, "33.33": 3333, "1e1": 1000, "1_0": 1000, "100.0": 10000} {
		if got, err := parseShare(in); err != nil || got != want {
			t.Errorf("%q = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"-0.01", "100.01", "0.005", "nan", "inf", "+inf", "0x10"} {
		if got, err := parseShare(in); err == nil {
			t.Errorf("%q = %v, want an error", in, got)
		}
	}
}

func TestEveryShareOfAHundredthIsExact(t *testing.T) {
	for share := range 10001 {
		text := fmt.Sprintf("%d.%02d", share/100, share%100)
		if got, err := parseShare(text); err != nil || got != share {
			t.Fatalf("%q = %v, %v, want %v", text, got, err, share)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"hosts", "root", "index", "app", "server_name", "warn"}
	for in, want := range map[string]string{
		"host": "hosts", "HOSTS": "hosts", "hsots": "hosts", "servername": "server_name", "ap": "app", "warning": "warn",
		"xyzzy": "", "": "", strings.Repeat("hosts", 20): "", "rot": "root", "documents": "",
	} {
		if got := nearest(in, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
	if d := distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance = %d, want 3", d)
	}
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"30s", "1h30m", "1.5h", "999999999999999999d", "..s", "\xffs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := parseDuration(s)
		if err == nil && d < 0 {
			t.Errorf("%q = %v", s, d)
		}
		if std, stdErr := time.ParseDuration(s); err == nil && stdErr == nil && math.Abs(float64(std-d)) > 1 {
			t.Errorf("%q = %v, want %v", s, d, std)
		}
	})
}

func FuzzSize(f *testing.F) {
	for _, s := range []string{"64KiB", "0B", "9223372036854775807B", "8388607TiB", "1 MB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseSize(s); err == nil && n < 0 {
			t.Errorf("%q = %v", s, n)
		}
	})
}
