package lint

import (
	"strings"
	"time"
)

func (r *Run) wrk(lines []string) {
	r.Redirects = RedirectsGood
	r.WithHead = true
	bad := int64(0)
	for _, line := range lines {
		words := strings.Fields(line)
		switch name, value := label(line); {
		case strings.HasPrefix(line, "Running "):
			r.running(words)
		case len(words) == 5 && words[1] == "threads":
			r.Threads, r.Stated = int(count(words[0])), int(count(words[3]))
		case len(words) >= 4 && words[0] == "Latency" && words[1] != "Distribution":
			r.Mean, r.Resolution = duration(words[1]), lastDigit(words[1])
		case len(words) >= 4 && words[0] == "Req/Sec":
			r.ThreadRate = rate(words[1])
		case len(words) == 2 && strings.HasSuffix(words[0], "%"):
			r.quantile(words[0])
		case strings.Contains(line, " requests in ") && len(words) >= 5:
			r.Answers, r.Took = count(words[0]), duration(strings.TrimSuffix(words[3], ","))
			r.Size = size(words[4], binary)
		case name == "Non-2xx or 3xx responses":
			bad = count(value)
		case name == "Socket errors":
			r.socketErrors(value)
		case name == "Requests/sec":
			r.PerSecond, _ = number(value)
		}
	}
	r.Good = max(0, r.Answers-bad)
	if r.Answers > 0 {
		r.Size /= float64(r.Answers)
	}
	// Each thread opens as many as it can of an equal share; the rest are not opened.
	r.Connections = r.Stated
	if r.Threads > 0 {
		r.Connections = r.Stated / r.Threads * r.Threads
	}
	r.Timeout = r.optionTime(2*time.Second, "-T", "--timeout")
	r.Rate, _ = number(r.option("-R", "--rate"))
}

// running reads "Running 10s test @ http://shop.test/", which two of the tools print.
func (r *Run) running(words []string) {
	if len(words) >= 5 && words[2] == "test" {
		r.Asked, r.URL = duration(words[1]), words[4]
	}
}

func (r *Run) socketErrors(value string) {
	for _, part := range strings.Split(value, ",") {
		kind, n, _ := strings.Cut(strings.TrimSpace(part), " ")
		if kind == "timeout" {
			r.Timeouts = count(n)
		} else {
			r.Failed += count(n)
		}
	}
}

func (r *Run) quantile(percent string) {
	if q, ok := number(strings.TrimSuffix(percent, "%")); ok && q > 0 && q < 100 {
		r.Quantiles = append(r.Quantiles, q)
	}
}
