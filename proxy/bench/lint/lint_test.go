package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gateway/proxy/bench"
)

func read(t *testing.T, names ...string) (runs []*Run) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Read(name, text)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

// find returns the check of a rule, empty when it was not applied.
func find(all []Check, rule string) Check {
	for _, c := range all {
		if c.Rule == rule {
			return c
		}
	}
	return Check{}
}

// s0 to s4 are what five posts on FPM and Octane printed. Each has a fault.
func TestPublishedFigures(t *testing.T) {
	for _, c := range []struct {
		file, verdict string
		rule          string
		state         State
		text          string
	}{
		{"s0-nginx.autocannon.txt", bench.Invalid, "V01", Broken, "0 good answers of 62,950"},
		{"s0-swoole.autocannon.txt", bench.Valid, "V06", OK, "rate x latency = 881 in flight of 990 (99 connections x 10 at once, 3 threads share 100 and round down), 0.89"},
		{"s0-swoole.autocannon.txt", bench.Valid, "V07", Flag, "dead seconds: 1% and 2.5% of the rates"},
		{"s0-swoole.autocannon.txt", bench.Valid, "V15", Flag, "10 requests at once on each connection"},
		{"s0-roadrunner.autocannon.txt", bench.Valid, "V06", OK, "rate x latency = 884 in flight of 990"},
		{"s0-roadrunner.autocannon.txt", bench.Valid, "V07", OK, "no second without"},
		{"s2-fpm.wrk.txt", bench.Valid, "V06", OK, "= 92.3 in flight of 100, 0.92"},
		{"s2-swoole.wrk.txt", bench.Valid, "V06", OK, "of 100, 1.01 of them"},
		{"s3-web-32.wrk.txt", bench.Invalid, "V06", Broken, "rate x latency = 104 in flight of 288 (32 threads share 300 and round down), 0.36 of them: 61 % of the load"},
		{"s3-web-32.wrk.txt", bench.Invalid, "V07", Flag, "add up to 304 a second, the run made 183"},
		{"s3-web-32.wrk.txt", bench.Invalid, "V09", Flag, "the timeout of 15s is longer than the run of 10s"},
		{"s3-web-32.wrk.txt", bench.Invalid, "V05", Flag, "wrk with 32 threads ran on the machine that it measured"},
		{"s3-api-32.wrk.txt", bench.Valid, "V06", OK, "0.97 of them"},
		{"s3-api-64.wrk.txt", bench.Valid, "V06", OK, "1.05 of them"},
		{"s1-laptop.tsv", bench.Inconclusive, "V01", Unknown, "figures without the output"},
		{"s1-server.tsv", bench.Inconclusive, "V06", Unknown, "no latency at all"},
		{"s4-table.tsv", bench.Inconclusive, "V10", Unknown, "p95_latency_ms: not printed by wrk (50, 75, 90 and 99 %)"},
	} {
		f := Lint(read(t, c.file)).Files[0]
		if f.Verdict.State != c.verdict {
			t.Errorf("%s: %s (%s), want %s", c.file, f.Verdict.State, f.Verdict.Text, c.verdict)
		}
		if got := find(f.Checks, c.rule); got.State != c.state || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: %s: %s: %q, want %s: %q", c.file, c.rule, got.State, got.Text, c.state, c.text)
		}
	}
}

// The files named real were printed by the tools as they come with Debian and npm, against a small server that answers
// after 20 ms, throttles after 60 requests, hangs for two of three, or redirects to a login page. Those named made are
// written by hand after oha's documentation.
func TestOutputOfTools(t *testing.T) {
	for _, c := range []struct {
		file, verdict string
		rule          string
		state         State
		text          string
	}{
		{"real-wrk-ok.txt", bench.Valid, "V06", OK, "of 20, 1.02 of them"},
		{"real-wrk-ok.txt", bench.Valid, "V10", OK, "at least 20 samples"},
		{"real-wrk-ok.txt", bench.Valid, "V02", Unknown, "counts redirects as good"},
		{"real-wrk-hang.txt", bench.Invalid, "V06", Broken, "of 30, 0.01 of them"},
		{"real-wrk-hang.txt", bench.Invalid, "V09", Flag, "the timeout of 10s is longer than the run of 4s"},
		{"real-wrk-throttle.txt", bench.Invalid, "V01", Broken, "54,265 of 54,325 answers are not good"},
		{"real-wrk-throttle.txt", bench.Invalid, "V06", Broken, "more than there were connections"},
		{"real-ab-ok.txt", bench.Valid, "V06", OK, "of 20, 1.00 of them"},
		{"real-ab-ok.txt", bench.Valid, "V15", Flag, "opens a connection of its own"},
		{"real-ab-keepalive.txt", bench.Valid, "V15", "", ""},
		{"real-ab-redirect.txt", bench.Invalid, "V01", Broken, "0 good answers of 1,000"},
		{"real-hey-ok.txt", bench.Valid, "V01", OK, "2,097 of 2,097 answers are good (200: 2,097)"},
		{"real-hey-ok.txt", bench.Valid, "V06", OK, "of 20, 1.00 of them"},
		{"real-hey-throttle.txt", bench.Invalid, "V02", Broken, "12,641 answers of 429: a throttle"},
		{"real-hey-hang.txt", bench.Invalid, "V09", Broken, "120 requests timed out"},
		{"real-hey-redirect.txt", bench.Inconclusive, "V02", Unknown, "follows redirects"},
		{"real-autocannon-ok.txt", bench.Valid, "V06", OK, "of 20, 1.00 of them"},
		{"real-autocannon-hang.txt", bench.Invalid, "V09", Broken, "91 requests timed out"},
		{"real-autocannon-throttle.txt", bench.Invalid, "V02", Broken, "10,818 answers of 429"},
		{"made-oha-ok.txt", bench.Valid, "V06", OK, "of 50, 0.99 of them"},
		{"made-oha-ok.txt", bench.Valid, "V10", Flag, "99.9 %, 99.99 %: less than 20 of 5,964"},
		{"made-oha-throttle.txt", bench.Invalid, "V02", Broken, "1,940 answers of 429"},
	} {
		f := Lint(read(t, c.file)).Files[0]
		if f.Verdict.State != c.verdict {
			t.Errorf("%s: %s (%s), want %s", c.file, f.Verdict.State, f.Verdict.Text, c.verdict)
		}
		if got := find(f.Checks, c.rule); got.State != c.state || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: %s: %s: %q, want %s: %q", c.file, c.rule, got.State, got.Text, c.state, c.text)
		}
	}
}

func TestRunsAreHeldAgainstEachOther(t *testing.T) {
	s2 := Lint(read(t, "s2-fpm.wrk.txt", "s2-swoole.wrk.txt"))
	if got := find(s2.Together.Checks, "V04"); got.State != Flag || !strings.Contains(got.Text, "281 bytes") || !strings.Contains(got.Text, "187 bytes") {
		t.Errorf("%+v", got)
	}
	if got := find(s2.Together.Checks, "V15"); got.State != Flag || !strings.Contains(got.Text, "lumen.app") {
		t.Errorf("%+v", got)
	}
	if s2.State() != bench.Inconclusive {
		t.Errorf("answers of another size: %s", s2.State())
	}

	s0 := Lint(read(t, "s0-nginx.autocannon.txt", "s0-swoole.autocannon.txt", "s0-roadrunner.autocannon.txt"))
	got := find(s0.Together.Checks, "V04")
	for _, want := range []string{"469 bytes", "8,226 bytes", "8,219 bytes"} {
		if got.State != Flag || !strings.Contains(got.Text, want) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if s0.State() != bench.Invalid {
		t.Errorf("one of three is invalid: %s", s0.State())
	}

	alike := Lint(read(t, "s3-api-32.wrk.txt", "s3-api-64.wrk.txt"))
	if alike.State() != bench.Valid || !strings.Contains(alike.Together.Verdict.Text, "no winner follows") {
		t.Errorf("%s: %+v", alike.State(), alike.Together)
	}
	other := Lint(read(t, "s3-api-32.wrk.txt", "s3-web-32.wrk.txt"))
	if got := find(other.Together.Checks, "V03"); !strings.Contains(got.Text, "/api/benchmark") || !strings.Contains(got.Text, " /benchmark") {
		t.Errorf("%+v", got)
	}
}

func TestWithoutCommandLineConnectionsAreUnknown(t *testing.T) {
	text, err := os.ReadFile("testdata/real-hey-ok.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, output, _ := bytes.Cut(text, []byte("\n"))
	r, err := Read("hey.txt", output)
	if err != nil {
		t.Fatal(err)
	}
	f := Lint([]*Run{r}).Files[0]
	if got := find(f.Checks, "V06"); f.Verdict.State != bench.Inconclusive || !strings.Contains(got.Text, "put the command line into the file") {
		t.Errorf("%s: %+v", f.Verdict.State, got)
	}
}

func TestStatedCommandDoesNotPrintThatQuantile(t *testing.T) {
	r, err := Read("post.tsv", []byte("wrk -t12 -c200 -d30s http://shop.test/\nmetric\tfpm\np95_latency_ms\t112\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Lint([]*Run{r}).Files[0]
	if got := find(f.Checks, "V10"); got.State != Broken || !strings.Contains(got.Text, "the stated command prints no quantile of 95 %") {
		t.Errorf("%+v", got)
	}
	if f.Verdict.State != bench.Inconclusive {
		t.Errorf("a table is %s", f.Verdict.State)
	}
}

func TestRateThatWasNotReached(t *testing.T) {
	text := "wrk -t2 -c50 -d10 -R2000 http://shop.test/\n" +
		"Running 10s test @ http://shop.test/\n  2 threads and 50 connections\n  Thread Stats   Avg\n" +
		"    Latency     20.00ms    1.00ms  30.00ms   70.00%\n  9000 requests in 10.00s, 9.00MB read\n" +
		"  Socket errors: connect 3, read 4, write 0, timeout 5\nRequests/sec:    900.00\n"
	r, err := Read("wrk2.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := r.check()
	if got := find(all, "V16"); got.State != Broken || !strings.Contains(got.Text, "900 a second of the 2,000") {
		t.Errorf("%+v", got)
	}
	if got := find(all, "V06"); got.State != OK {
		t.Errorf("a limited rate leaves connections idle: %+v", got)
	}
	if r.Failed != 7 || r.Timeouts != 5 {
		t.Errorf("%d failed, %d timed out", r.Failed, r.Timeouts)
	}
}

func TestWhatIsNoOutputIsRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "prose": "It was fast.\n", "bytes": "\xff\xfe\tx\n\ty\n"} {
		if r, err := Read(name, []byte(text)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := Read("large", bytes.Repeat([]byte("a\tb\n"), MaxFile)); err == nil {
		t.Error("a large file is read")
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.t*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read("fuzz", text)
		if err != nil {
			return
		}
		report := Lint([]*Run{r, r})
		var out bytes.Buffer
		report.Print(&out)
		if s := out.String(); strings.Contains(s, "NaN") && !bytes.Contains(text, []byte("NaN")) {
			t.Errorf("%s", s)
		}
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
	})
}

// Published as throughput: the rate at which a server says 404, and tails of a run in which all answers were errors.
func TestRatesOfErrors(t *testing.T) {
	for name, text := range map[string]string{
		"wrk": "Running 30s test @ http://shop.test/nowhere\n  4 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n" +
			"    Latency   167.00ms   20.00ms 900.00ms   90.00%\n    Req/Sec    95.00     10.00   100.00     70.00%\n" +
			"  Latency Distribution\n     99%  700.00ms\n  11473 requests in 30.00s, 5.00MB read\n  Non-2xx or 3xx responses: 11473\nRequests/sec:    382.43\n",
		"hey": "hey -disable-redirects -z 10s -c 10 http://shop.test/\nSummary:\n  Total:	10.0 secs\n  Average:	0.0100 secs\n  Requests/sec:	1000.0\n" +
			"Latency distribution:\n  50% in 0.0100 secs\nStatus code distribution:\n  [302]	10000 responses\n",
	} {
		r, err := Read(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f := Lint([]*Run{r}).Files[0]
		if got := find(f.Checks, "V01"); f.Verdict.State != bench.Invalid || !strings.Contains(got.Text, "0 good answers of") {
			t.Errorf("%s: %s: %+v", name, f.Verdict.State, got)
		}
		if got := find(f.Checks, "V02"); name == "hey" && (got.State != Broken || !strings.Contains(got.Text, "10,000 answers of 302: a redirect")) {
			t.Errorf("%+v", got)
		}
	}
}

func TestPortsThatRanOut(t *testing.T) {
	r, err := Read("hey", []byte("hey -c 10 http://shop.test/\nDetails:\n  DNS+dialup:	0.0 secs\nStatus code distribution:\n  [200]	10 responses\n"+
		"Error distribution:\n  [7]	dial tcp 127.0.0.1:80: connect: cannot assign requested address\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(r.check(), "V18"); got.State != Broken || !strings.HasPrefix(got.Text, "7 requests") {
		t.Errorf("%+v", got)
	}
}
