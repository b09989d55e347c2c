package report

import (
	"bytes"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares what write writes with a file.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is another one now (go test -update writes it):\n%s", name, firstDifference(b.String(), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "another number of lines"
}

// script says what a made run is like. Its answers take a time that is spread as those of an application are: most near the
// middle, few much longer.
type script struct {
	rate   float64
	closed int
	pairs  int
	seed   uint64
	middle [2]time.Duration // of each arm's response times
	noise  float64          // between blocks
	change func(r *bench.Result)
}

var usual = script{
	rate: 320, pairs: 12, seed: 7, noise: 0.02, middle: [2]time.Duration{8200 * time.Microsecond, 2100 * time.Microsecond},
}

// result makes a run up, of blocks as the engine returns them, and lets package bench conclude.
func (s script) result() *bench.Result {
	random := rand.New(rand.NewPCG(s.seed, 1))
	start := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	r := &bench.Result{
		Schema: bench.Schema, Version: "1.4.0", Started: start, Seed: s.seed, Command: []string{"gateway", "bench", "fpm", "octane"},
		Machine: map[string]string{"cpu": "AMD EPYC 7543", "processors": "8", "kernel": "6.12.9", "governor": "performance"},
		Settings: bench.Settings{
			Rate: s.rate, Closed: s.closed, Block: 10 * time.Second, Discard: 2 * time.Second, Gap: 2 * time.Second,
			Pairs: s.pairs, Confidence: 0.95, Cookies: "user", Users: 50,
		},
		Arms: []bench.ArmFacts{
			{Name: "fpm", Kind: "fastcgi", Address: "/run/php/fpm.sock", Workers: 16, Warmup: warm(8), Fingerprint: map[string]string{"php": "8.4.3", "opcache": "on"}},
			{Name: "octane", Kind: "http", Address: "127.0.0.1:8000", Workers: 8, Warmup: warm(3), Fingerprint: map[string]string{"php": "8.4.3", "server": "swoole"}},
		},
		Routes: []bench.RouteFacts{
			{Name: "ping", Method: "GET", Target: "/api/ping", Weight: 1, Status: 200, SizeLow: 0, SizeHigh: 291},
			{Name: "users", Method: "GET", Target: "/api/users", Weight: 3, Status: 200, SizeLow: 9012, SizeHigh: 15776},
			{Name: "export", Method: "GET", Target: "/export", Weight: 1, Left: "octane answers 500 (status)"},
		},
	}
	if s.closed == 0 {
		r.Settings.Arrivals = "poisson"
	}
	at := start.Add(40 * time.Second)
	for turn := range s.pairs + 1 {
		for position := range 2 {
			b := s.block(random, at, (turn+position)%2)
			b.Pair, b.Position = turn, position
			if turn == s.pairs/2 {
				b = s.block(random, at, 1)
				b.Pair, b.Position, b.Control = turn, position, true
			}
			r.Blocks = append(r.Blocks, b)
			at = at.Add(12 * time.Second)
		}
	}
	r.Took = at.Sub(start)
	if s.change != nil {
		s.change(r)
	}
	r.Recompute()
	return r
}

func warm(seconds int) *bench.Warmup {
	w := &bench.Warmup{Took: time.Duration(seconds) * 2 * time.Second, Settled: true}
	for i := range seconds {
		p50 := time.Duration(float64(9*time.Millisecond) * (1 + 3*math.Exp(-float64(i))))
		w.Windows = append(w.Windows, bench.Window{Good: 900, P50: p50, P95: 2 * p50})
	}
	return w
}

func (s script) block(random *rand.Rand, at time.Time, arm int) bench.Block {
	middle := float64(s.middle[arm]) * math.Exp(s.noise*random.NormFloat64())
	b := &load.Block{
		Start: at, For: 10 * time.Second, Offered: s.rate, Opened: 4, Response: load.NewHistogram(), Service: load.NewHistogram(),
		Lateness: load.NewHistogram(), Statuses: map[int]int64{}, Faults: map[string]int64{}, Errors: map[string]int64{},
		GeneratorCPU: 150 * time.Millisecond, Routes: make([]load.RouteBlock, 3),
	}
	rate := s.rate
	if s.closed > 0 {
		rate = float64(s.closed) / middle * 1e9
	}
	for second := range 10 {
		slow := 1.0
		if second < 2 {
			slow = 1.4
		}
		p50 := middle * slow * math.Exp(0.05*random.NormFloat64())
		b.Seconds = append(b.Seconds, load.Second{
			Started: int64(rate), Good: int64(rate * math.Exp(0.03*random.NormFloat64())), P50: time.Duration(p50), P99: time.Duration(p50 * (2.5 + random.Float64())),
		})
	}
	b.Warmup.Issued, b.Warmup.Good = int64(2*rate), int64(2*rate)
	for range int(8 * rate) {
		took := time.Duration(middle * math.Exp(0.3*random.NormFloat64()+0.25*random.ExpFloat64()))
		b.Response.Record(took + 20*time.Microsecond)
		b.Service.Record(took)
		b.Lateness.Record(time.Duration(20e3 * random.ExpFloat64()))
	}
	b.Issued = int64(8 * rate)
	b.Good, b.Reused, b.Statuses[200] = b.Issued, b.Issued-4, b.Issued
	b.Bytes = b.Good * 9350
	b.MeanInFlight = float64(b.Good) / 8 * b.Service.Mean().Seconds()
	use := &bench.Usage{
		CPU: time.Duration(middle * 0.7 * float64(b.Good+b.Warmup.Good)), Memory: int64(310e6 + 4e6*random.Float64()), Processes: 17, Source: "tree", Pressure: 0.1,
	}
	if arm == 1 {
		use.Memory, use.Processes, use.Source = int64(480e6+4e6*random.Float64()), 11, "cgroup"
	}
	return bench.Block{Arm: arm, Block: b, Usage: use}
}

func valid() *bench.Result { return usual.result() }

// invalid has a throttle that answers one of the arms.
func invalid() *bench.Result {
	s := usual
	s.change = func(r *bench.Result) {
		for i := range r.Blocks {
			if b := &r.Blocks[i]; b.Arm == 1 && i > 5 {
				b.Issued += 400
				b.Bad, b.Faults["throttled"], b.Statuses[429] = 400, 400, 400
				b.Block.Routes[1].Good, b.Block.Routes[1].Bytes = 100, 500_000
			} else if b.Arm == 0 {
				b.Block.Routes[1].Good, b.Block.Routes[1].Bytes = 100, 935_000
			}
		}
	}
	return s.result()
}

// inconclusive has two arms that are nearly alike, too much noise to tell, and too few answers for a p99.
func inconclusive() *bench.Result {
	s := usual
	s.rate, s.noise, s.middle[1] = 120, 0.15, 7700*time.Microsecond
	return s.result()
}

// alone has one arm, in a closed loop, and nobody who looked at what it used.
func alone() *bench.Result {
	s := usual
	s.closed, s.rate = 4, 0
	s.change = func(r *bench.Result) {
		r.Arms, r.Partial = r.Arms[:1], true
		var kept []bench.Block
		for _, b := range r.Blocks {
			if b.Arm == 0 {
				b.Pair, b.Position, b.Usage = len(kept), 0, nil
				kept = append(kept, b)
			}
		}
		r.Blocks, r.Arms[0].Warmup.Settled = kept[:8], false
	}
	return s.result()
}

// closed has two arms in a closed loop.
func closed() *bench.Result {
	s := usual
	s.closed, s.rate = 4, 0
	return s.result()
}

var runs = map[string]func() *bench.Result{
	"valid": valid, "invalid": invalid, "inconclusive": inconclusive, "alone": alone, "closed": closed,
}

func TestTextOfRuns(t *testing.T) {
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name+".txt", func(w io.Writer) error { return Text(w, run()) })
		})
	}
}

func TestMadeRunsAreWhatTheyAreCalled(t *testing.T) {
	for name, want := range map[string]string{"valid": bench.Valid, "invalid": bench.Invalid, "inconclusive": bench.Inconclusive, "closed": bench.Valid} {
		if r := runs[name](); r.Verdict.State != want {
			t.Errorf("%s: %+v, %+v", name, r.Verdict, r.Findings)
		}
	}
}

func TestColorsAreForTerminals(t *testing.T) {
	var plain, color bytes.Buffer
	r := invalid()
	if err := Text(&plain, r); err != nil {
		t.Fatal(err)
	}
	if err := ColorText(&color, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("plain text has escapes")
	}
	stripped := color.String()
	for _, code := range []string{red, green, yellow, bold, "0"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.String() {
		t.Errorf("colors change the text:\n%s", firstDifference(stripped, plain.String()))
	}
	if !strings.Contains(color.String(), "\x1b[31mINVALID") {
		t.Error("INVALID is not red")
	}
}

// An invalid run names no winner, whatever it is asked for.
func TestInvalidRunHasNoWinnerAnywhere(t *testing.T) {
	r := invalid()
	for name, write := range map[string]func(io.Writer, *bench.Result) error{
		"text": Text, "html": HTML, "benchmarks": GoBench, "prometheus": Prometheus, "wrk": Wrk, "autocannon": Autocannon,
	} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"faster", "takes more", "times that of", "octane / fpm", "winner{", "bench_ratio", "Benchmark"} {
			if strings.Contains(b.String(), word) {
				t.Errorf("%s of an invalid run says %q", name, word)
			}
		}
		if !strings.Contains(b.String(), bench.Invalid) {
			t.Errorf("%s does not say that the run is invalid", name)
		}
	}
}

func TestNumbersHaveThreeDigitsThatCount(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "ns", "0 ns"}, {999, "ns", "999 ns"}, {2034, "ns", "2.03 µs"}, {8.2e6, "ns", "8.20 ms"}, {999.7e6, "ns", "1.00 s"},
		{62950, "1/s", "62,950 /s"}, {99.96, "1/s", "100 /s"}, {12.345, "1/s", "12.3 /s"}, {310e6, "bytes", "310 MB"},
		{0.0042, "x", "0.0042 x"}, {-62950, "x", "-62,950 x"},
	} {
		if got := amount(c.v, c.unit); got != c.want {
			t.Errorf("amount(%g, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
