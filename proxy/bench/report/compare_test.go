package report

import (
	"io"
	"strings"
	"testing"
	"time"

	"gateway/proxy/bench"
)

// tuned is the valid run made again after something was done about fpm.
func tuned(change func(r *bench.Result)) *bench.Result {
	s := usual
	s.seed, s.middle[0] = 8, 6900*time.Microsecond
	s.change = func(r *bench.Result) {
		r.Arms[0].Fingerprint["php"] = "8.5.0"
		if change != nil {
			change(r)
		}
	}
	return s.result()
}

func TestRunsAreCompared(t *testing.T) {
	c := Compare(valid(), tuned(nil))
	golden(t, "compare.txt", c.Text)
	f := c.Arms[0].Figures[0]
	if f.Name != "p50" || f.Ratio.High > 0.9 || f.Ratio.Low < 0.8 || f.PHolm > 0.001 || c.word(f) != "less" {
		t.Errorf("%+v", f)
	}
	if f := c.Arms[1].Figures[0]; !f.Ratio.Contains(1) || c.word(f) != "alike" {
		t.Errorf("octane has not changed: %+v", f)
	}
	if len(c.Changed) != 1 || c.Changed[0] != `fpm: php "8.4.3", then "8.5.0"` {
		t.Errorf("changed: %q", c.Changed)
	}
}

func TestRunsThatWereNotMadeAlikeHaveNoRatios(t *testing.T) {
	for want, change := range map[string]func(r *bench.Result){
		"another rate: 320 a second, then 400; --rate keeps it":         func(r *bench.Result) { r.Settings.Rate = 400 },
		`other length of blocks: "10s", then "20s"`:                     func(r *bench.Result) { r.Settings.Block *= 2 },
		`other way: "", then "tls"`:                                     func(r *bench.Result) { r.Settings.Via = "tls" },
		`another machine: cpu "AMD EPYC 7543", then "Xeon"`:             func(r *bench.Result) { r.Machine["cpu"] = "Xeon" },
		"another workload: GET /api/ping (200, weight 1)":               func(r *bench.Result) { r.Routes[1].Weight = 1 },
		"octane is asked in another way: http, then url":                func(r *bench.Result) { r.Arms[1].Kind = "url" },
		"the second run is INVALID":                                     func(r *bench.Result) { r.Blocks[0].Hung, r.Blocks[0].Issued = 1, r.Blocks[0].Issued+1 },
		"no arm is in both: fpm against octane, then old against newer": func(r *bench.Result) { r.Arms[0].Name, r.Arms[1].Name = "old", "newer" },
	} {
		c := Compare(valid(), tuned(change))
		var text strings.Builder
		if err := c.Text(&text); err != nil {
			t.Fatal(err)
		}
		if len(c.Arms) != 0 || !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "not to be compared") {
			t.Errorf("want %q in\n%s", want, text.String())
		}
	}
}

func TestTooFewBlocksHaveNoRatio(t *testing.T) {
	few := func(r *bench.Result) { r.Blocks = r.Blocks[:4] }
	c := Compare(valid(), tuned(few))
	if f := c.Arms[0].Figures[0]; f.Empty != "" {
		t.Errorf("12 and 2 blocks: %+v", f)
	}
	s := usual
	s.change = func(r *bench.Result) { r.Blocks = r.Blocks[:4] }
	c = Compare(s.result(), tuned(few))
	if f := c.Arms[0].Figures[0]; f.Empty != "2 and 2 blocks are too few" {
		t.Errorf("%+v", f)
	}
	if err := c.Text(io.Discard); err != nil {
		t.Error(err)
	}
}
