package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gateway/proxy/bench"
)

// TestBenchCommand runs the program itself, for it is signals and exit codes that these tests are about.
func TestBenchCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gateway")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"two URLs": benchOfTwoURLs, "interrupted": interruptedBench, "starved": starvedGenerator, "knee": interruptedKnee,
	} {
		t.Run(name, func(t *testing.T) { test(t, program) })
	}
}

// benchRun is a gateway bench under way.
type benchRun struct {
	cmd   *exec.Cmd
	words io.ReadCloser // what it says meanwhile; whoever does not wait for a part of it leaves it to end
	out   bytes.Buffer
}

func startBench(t *testing.T, program string, args ...string) *benchRun {
	t.Helper()
	b := &benchRun{cmd: exec.Command(program, args...)}
	b.cmd.Stdout = &b.out
	var err error
	if b.words, err = b.cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

// awaits reads what the bench says until a text has come.
func (b *benchRun) awaits(t *testing.T, text string) {
	t.Helper()
	var said []byte
	for buffer := make([]byte, 4096); !bytes.Contains(said, []byte(text)); {
		n, err := b.words.Read(buffer)
		said = append(said, buffer[:n]...)
		if err != nil {
			t.Fatalf("it ended before it said %q: %s", text, said)
		}
	}
}

// end returns the exit code and what was said after what had been waited for.
func (b *benchRun) end(t *testing.T) (code int, words string) {
	t.Helper()
	rest, _ := io.ReadAll(b.words)
	var exit *exec.ExitError
	if err := b.cmd.Wait(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, string(rest)
}

func resultOf(t *testing.T, text []byte) bench.Result {
	t.Helper()
	var r bench.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	for i, b := range r.Blocks {
		if b.Issued != b.Good+b.Bad+b.Hung+b.Failed || b.Response.Count() != b.Good {
			t.Errorf("block %d does not add up: %+v, %d times", i, b.Counts, b.Response.Count())
		}
	}
	return r
}

func slowServer(t *testing.T, d time.Duration) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(d)
		fmt.Fprint(w, "hello")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// short is a bench that is over soon.
var short = []string{"bench", "--closed", "2", "--pairs", "6", "--for", "200ms", "--warmup", "300ms", "--gap", "1ms", "--seed", "1"}

func benchOfTwoURLs(t *testing.T, program string) {
	file := filepath.Join(t.TempDir(), "result.json")
	b := startBench(t, program, append(short, "--arm", "slow="+slowServer(t, 20*time.Millisecond), "--arm", "quick="+slowServer(t, time.Millisecond),
		"--route", "3*GET /a", "--route", "/b", "--json", file)...)
	code, words := b.end(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, words)
	}
	r := resultOf(t, text)
	// A busy machine may well break a rule; then there must be no winner.
	if want := map[string]int{bench.Valid: 0, bench.Invalid: 2, bench.Inconclusive: 3}[r.Verdict.State]; code != want {
		t.Errorf("exit code %d after %+v", code, r.Verdict)
	}
	if r.Verdict.State == bench.Valid && r.Verdict.Winner != 1 || r.Verdict.State != bench.Valid && r.Verdict.Winner != -1 {
		t.Errorf("verdict %+v", r.Verdict)
	}
	if len(r.Blocks) != 14 || len(r.Routes) != 2 || r.Arms[0].Name != "slow" || r.Seed != 1 || len(r.Command) < 10 || r.Blocks[0].Good == 0 {
		t.Errorf("%d blocks, routes %+v, arms %+v, command %q", len(r.Blocks), r.Routes, r.Arms, r.Command)
	}
	for _, want := range []string{"slow", "quick / slow", "throughput", r.Verdict.State + ": "} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.out.String())
		}
	}
	if !strings.Contains(words, "2 arms, 2 routes") {
		t.Errorf("it said:\n%s", words)
	}
}

// interruptedBench: whenever a run is interrupted, it says what it has, and that this is not all.
func interruptedBench(t *testing.T, program string) {
	for _, moment := range []string{"learn", "warm-up", "  2 of 14"} {
		t.Run(moment, func(t *testing.T) {
			b := startBench(t, program, append(short, "--arm", slowServer(t, 10*time.Millisecond), "--arm", slowServer(t, 10*time.Millisecond), "--json", "-")...)
			b.awaits(t, moment)
			if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			code, words := b.end(t)
			r := resultOf(t, b.out.Bytes())
			if !r.Partial || r.Verdict.State == bench.Valid || code != 3 && code != 2 || !strings.Contains(words, "ended before its time") {
				t.Errorf("exit code %d, partial %v, verdict %+v, words:\n%s", code, r.Partial, r.Verdict, words)
			}
		})
	}
}

// starvedGenerator: a generator that is kept from the processor sends late, and must not blame whom it asks.
func starvedGenerator(t *testing.T, program string) {
	b := startBench(t, program, "bench", "--arm", slowServer(t, time.Millisecond), "--rate", "200", "--pairs", "2", "--for", "1s", "--warmup", "100ms", "--json", "-")
	b.awaits(t, "warm-up")
	ended := make(chan struct{})
	var starving sync.WaitGroup
	starving.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
				select {
				case <-tick.C:
					_ = b.cmd.Process.Signal(signal)
				case <-ended:
					return
				}
			}
		}
	})
	var words bytes.Buffer
	_, _ = words.ReadFrom(b.words) // to its end, which is that of the process
	close(ended)
	starving.Wait()
	code, _ := b.end(t)
	r := resultOf(t, b.out.Bytes())
	late := false
	for _, f := range r.Findings {
		late = late || f.Rule == "V05" && !f.Flag
	}
	if code != 2 || !late || r.Verdict.Winner != -1 {
		t.Errorf("exit code %d, verdict %+v, findings %+v\n%s", code, r.Verdict, r.Findings, words.String())
	}
}

func interruptedKnee(t *testing.T, program string) {
	b := startBench(t, program, "knee", "--arm", slowServer(t, time.Millisecond), "--step", "100ms", "--warmup", "100ms", "--gap", "1ms", "--slo", "1s", "--json", "-")
	b.awaits(t, "  2  ")
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	code, words := b.end(t)
	r := resultOf(t, b.out.Bytes())
	if code != 3 || r.Knee == nil || len(r.Knee.Arms[0].Steps) < 2 || !r.Partial || !strings.Contains(words, "p95 within 1s") {
		t.Errorf("exit code %d, %+v\n%s", code, r.Verdict, words)
	}
}
