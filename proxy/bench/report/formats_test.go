package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"gateway/proxy/bench"
	"gateway/proxy/bench/lint"
)

func TestClassicLayouts(t *testing.T) {
	golden(t, "wrk.golden", func(w io.Writer) error { return Wrk(w, closed()) })
	golden(t, "autocannon.golden", func(w io.Writer) error { return Autocannon(w, closed()) })
}

// Who reads the output of those tools reads ours.
func TestClassicLayoutsAreReadAsSuch(t *testing.T) {
	for tool, write := range map[string]func(io.Writer, *bench.Result) error{"wrk": Wrk, "autocannon": Autocannon} {
		var b bytes.Buffer
		r := alone()
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		run, err := lint.Read("ours", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want := sums(r)[0].rate()
		if run.Tool != tool || run.Connections != 4 || run.PerSecond < 0.97*want || run.PerSecond > 1.03*want || run.Answers == 0 {
			t.Errorf("%s: %+v, want %g a second", tool, run, want)
		}
	}
}

// Only good answers are in the layouts; the others are named below.
func TestClassicLayoutsSayWhatTheyDoNotCount(t *testing.T) {
	var b bytes.Buffer
	if err := Wrk(&b, invalid()); err != nil {
		t.Fatal(err)
	}
	if want := "not counted: 4,400 bad, 0 failed, 0 hung (throttled 4,400)"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

func TestGoBenchmarks(t *testing.T) {
	golden(t, "valid.bench", func(w io.Writer) error { return GoBench(w, valid()) })
	var b bytes.Buffer
	r := valid()
	r.Arms[0].Name = "php fpm/8.4"
	if err := GoBench(&b, r); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(Unit \S+ better=(higher|lower)|Benchmark[A-Z]\w+/arm=[^\s/]+ \d+ [\d.e+]+ (ns/op|B|req/s))$`)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, text := range lines {
		if !line.MatchString(text) {
			t.Errorf("%q", text)
		}
	}
	if want := 2 + 5*24; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
}

func TestGauges(t *testing.T) {
	golden(t, "valid.prom", func(w io.Writer) error { return Prometheus(w, valid()) })
	r := closed()
	r.Arms[0].Name = "a\"b\\\n"
	var b bytes.Buffer
	if err := Prometheus(&b, r); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? [-+\d.e]+)$`)
	typed := map[string]bool{}
	for text := range strings.Lines(b.String()) {
		text = strings.TrimSuffix(text, "\n")
		if !line.MatchString(text) {
			t.Errorf("%q", text)
		}
		if name, ok := strings.CutPrefix(text, "# TYPE "); ok {
			if typed[name] {
				t.Errorf("%s is typed twice", name)
			}
			typed[name] = true
		}
	}
	if !strings.Contains(b.String(), `gateway_bench_good_per_second{arm="a\"b\\\n"} `) {
		t.Error("the arm's name is not escaped")
	}
}
