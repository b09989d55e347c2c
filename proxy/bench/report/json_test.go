package report

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
	"gateway/proxy/bench/workload"
)

// takes is an arm that answers after a while.
type takes time.Duration

func (d takes) Send(ctx context.Context, _ *load.Request, a *load.Answer) error {
	a.Status, a.Size, a.Header, a.Wrote = 200, 1000, http.Header{}, time.Now()
	timer := time.NewTimer(time.Duration(d))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	a.End = time.Now()
	return nil
}

func look() func(context.Context) (bench.Usage, error) {
	var cpu time.Duration
	return func(context.Context) (bench.Usage, error) {
		cpu += 30 * time.Millisecond
		return bench.Usage{CPU: cpu, Memory: 100e6, Processes: 3, Source: "tree"}, nil
	}
}

// measured is a run that really took place, if not for long.
func measured(t *testing.T) *bench.Result {
	t.Helper()
	arm := func(name string, d time.Duration) bench.Arm {
		return bench.Arm{Name: name, ArmFacts: bench.ArmFacts{Kind: "http", Address: "nowhere"}, Load: takes(d), Look: look()}
	}
	r, err := bench.Run(context.Background(), bench.Config{
		Arms:     []bench.Arm{arm("fpm", 4*time.Millisecond), arm("octane", 2*time.Millisecond)},
		Workload: &workload.Workload{Host: "x", Routes: []workload.Route{{Target: "/"}}},
		Closed:   4, Block: 120 * time.Millisecond, Discard: 20 * time.Millisecond, Gap: time.Millisecond, Pairs: 6,
		Warmup: 300 * time.Millisecond, Seed: 1, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, r *bench.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	for name, r := range map[string]*bench.Result{"measured": measured(t), "valid": valid(), "invalid": invalid(), "alone": alone()} {
		text := written(t, r)
		again, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(written(t, again), text) {
			t.Errorf("%s changes on its way through a file", name)
		}
	}
}

func TestBlocksOfAFileGiveTheSameAgain(t *testing.T) {
	for name, r := range map[string]*bench.Result{"measured": measured(t), "valid": valid(), "invalid": invalid(), "inconclusive": inconclusive()} {
		again, err := Read(bytes.NewReader(written(t, r)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again.Figures, again.Findings, again.Verdict = nil, nil, bench.Verdict{}
		again.Recompute()
		if !reflect.DeepEqual(again.Figures, r.Figures) || !reflect.DeepEqual(again.Findings, r.Findings) || again.Verdict != r.Verdict {
			t.Errorf("%s: %+v\n%+v\n%+v\nwant %+v\n%+v\n%+v", name, again.Figures, again.Findings, again.Verdict, r.Figures, r.Findings, r.Verdict)
		}
	}
}

// A file of the first schema stays readable.
func TestKeptFileIsRead(t *testing.T) {
	s := usual
	s.rate, s.pairs = 20, 6
	golden(t, "schema1.json", func(w io.Writer) error { return Write(w, s.result()) })
	file, err := os.Open("testdata/schema1.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := Read(file)
	if err != nil || len(r.Blocks) != 14 || r.Arms[1].Name != "octane" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestFilesThatAreNoResult(t *testing.T) {
	text := string(written(t, alone()))
	for _, c := range []struct{ name, from, to, want string }{
		{"later", `"schema":1`, `"schema":2`, "written by a later gateway: schema 2; this one knows up to 1"},
		{"no schema", `"schema":1`, `"scheme":1`, "it has no schema"},
		{"cut", `"verdict"`, "", "not the result of a bench"},
		{"state", `"INVALID"`, `"FINE"`, `verdict "FINE"`},
		{"state", `"INCONCLUSIVE"`, `"FINE"`, `verdict "FINE"`},
		{"winner", `"winner":-1`, `"winner":0`, "and arm 0 wins"},
		{"arm", `"blocks":[{"arm":0`, `"blocks":[{"arm":1`, "block 0: arm 1 at position 0"},
		{"sum", `"issued":`, `"issued":1`, "requests issued"},
		{"confidence", `"confidence":0.95`, `"confidence":1`, "confidence 1"},
		{"histogram", `"hdr_v2":"HI`, `"hdr_v2":"AA`, "histogram"},
		{"overflow", `"hdr_v2":`, `"overflow":-1,"hdr_v2":`, "histogram"},
	} {
		if !strings.Contains(text, c.from) {
			if c.name != "state" {
				t.Errorf("%s: no %s in the file", c.name, c.from)
			}
			continue
		}
		_, err := Read(strings.NewReader(strings.Replace(text, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want %q", c.name, err, c.want)
		}
		if errors.Is(err, ErrLater) != (c.name == "later") {
			t.Errorf("%s: %v is ErrLater or not", c.name, err)
		}
	}
	for _, text := range []string{"", "null", "[]", "{}", `{"schema":1}`, `{"schema":1,"arms":[{}],"blocks":[{"arm":0}]}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// Whatever is read can be shown.
func FuzzRead(f *testing.F) {
	kept, err := os.ReadFile("testdata/schema1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(kept)
	f.Add([]byte(`{"schema":1,"settings":{"confidence":0.9},"arms":[{"name":"a"}],"verdict":{"state":"VALID","winner":0}}`))
	f.Add([]byte(`{"schema":1,"settings":{"confidence":0.9,"closed":2},"arms":[{"name":"a"},{}],"blocks":[{"arm":1,"issued":2,"good":2,"for_ns":5,
		"seconds":[{"good":1,"p50_ns":3}]}],"figures":[{"name":"p50","of":[{"median":1},{"max":-1}]}],"verdict":{"state":"VALID","winner":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		for range 2 {
			for _, write := range []func(io.Writer, *bench.Result) error{Text, HTML, GoBench, Prometheus, Wrk, Autocannon, Write} {
				if err := write(io.Discard, r); err != nil {
					t.Fatal(err)
				}
			}
			Compare(r, r).Text(io.Discard)
			r.Recompute()
		}
	})
}
