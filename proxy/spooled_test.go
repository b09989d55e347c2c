package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"gateway/fastcgi/fcgitest"
)

// wantMetrics looks for lines of the exposition.
func (f *fixture) wantMetrics(lines ...string) {
	f.t.Helper()
	text := scrape(f.Metrics())
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			f.t.Errorf("no %s in the metrics", line)
		}
	}
}

func TestBodyWithoutRoomIs503UntilThereIsSome(t *testing.T) {
	responder := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	f := serve(t, "limits = { spool_memory = \"0B\", spool_disk = \"0B\" }\n"+fpmSite(responder, ""))
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 1<<20)
	answer := f.raw(head + strings.Repeat("x", 100<<10)) // the rest is not waited for
	if !strings.HasPrefix(answer, "HTTP/1.1 503 ") || !strings.Contains(answer, "\r\nRetry-After: 10\r\n") {
		t.Errorf("answer = %.300q, want 503 with Retry-After", answer)
	}
	f.wantMetrics("gateway_spool_refused_total 1", `gateway_spool_bytes{where="disk"} 0`, `gateway_spool_limit_bytes{where="disk"} 0`)
	eventually(t, "a warning", func() bool { return strings.Contains(f.accessLog(), "no room for what waits for clients") })
	if n := len(responder.Requests()); n != 0 {
		t.Errorf("%d requests reached the script", n)
	}
	if err := f.Reload(f.load("limits = { spool_memory = \"0B\", spool_disk = \"10MiB\" }\n" + fpmSite(responder, ""))); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("POST", f.url("/"), strings.NewReader(strings.Repeat("x", 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if resp, _ := f.do(r); resp.StatusCode != 200 {
		t.Errorf("status = %d after the reload, want 200", resp.StatusCode)
	}
	f.wantMetrics(`gateway_spool_bytes{where="memory"} 0`, `gateway_spool_bytes{where="disk"} 0`)
}

// A client that reads nothing holds its own backend alone, and gets all once it reads.
func TestAnswerWithoutRoomWaitsForItsClient(t *testing.T) {
	const size = 16 << 20
	text := strings.Repeat("0123456789abcdef", 1<<10)
	script := []fcgitest.Step{fcgitest.Stdout("Content-Type: text/plain\r\n\r\n")}
	for range size / len(text) {
		script = append(script, fcgitest.Stdout(text))
	}
	responder := fcgitest.New(t, append(script, fcgitest.End(0, 0))...).Then(fcgitest.Reply(200, "other"))
	f := serve(t, "limits = { spool_memory = \"0B\", spool_disk = \"0B\" }\n"+fpmSite(responder, ""))
	resp, err := noRedirect.Get(f.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	eventually(t, "the backend waits", func() bool {
		return strings.Contains(scrape(f.Metrics()), "gateway_spool_refused_total 1\n")
	})
	if _, body := f.get("/"); body != "other" {
		t.Errorf("another client got %q meanwhile", body)
	}
	if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
		t.Errorf("%d bytes, %v; want %d", n, err, size)
	}
	eventually(t, "all is given back", func() bool {
		return strings.Contains(scrape(f.Metrics()), "gateway_spool_bytes{where=\"memory\"} 0\n")
	})
}

func TestSpoolMetricsPassTheLinter(t *testing.T) {
	f := serve(t, fpmSite(fcgitest.New(t), ""))
	problems, err := promlint.New(strings.NewReader(scrape(f.Metrics()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "gateway_spool") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}
