package lint

import (
	"strings"
	"time"
)

func (r *Run) ab(lines []string) {
	r.Redirects = RedirectsBad
	r.WithHead = true
	r.Reconnects = true
	host, port, path := "", "", ""
	bad, total := int64(0), 0.0
	for _, line := range lines {
		name, value := label(line)
		words := strings.Fields(value)
		switch {
		case name == "Server Hostname":
			host = value
		case name == "Server Port":
			port = value
		case name == "Document Path":
			path = value
		case name == "Keep-Alive requests":
			r.Reconnects = false
		case name == "Non-2xx responses":
			bad = count(value)
		case name == "Total" && len(words) >= 4:
			r.Mean, r.Resolution = duration(words[1]+"ms"), lastDigit(words[1]+"ms")
		case name == "Total transferred":
			total = size(value, binary)
		default:
			r.abCount(name, words)
		}
		r.abQuantile(line)
	}
	r.Good = max(0, r.Answers-bad)
	if r.Answers > 0 {
		r.Size = total / float64(r.Answers)
	}
	if r.URL == "" && host != "" {
		r.URL = "http://" + host + ":" + port + path
	}
	r.Timeout = r.optionTime(30*time.Second, "-s")
}

func (r *Run) abCount(name string, words []string) {
	if len(words) == 0 {
		return
	}
	switch name {
	case "Concurrency Level":
		r.Stated = int(count(words[0]))
		r.Connections = r.Stated
	case "Time taken for tests":
		r.Took = duration(words[0])
	case "Complete requests":
		r.Answers = count(words[0])
	case "Requests per second":
		r.PerSecond, _ = number(words[0])
	case "(Connect": // of failed requests; those of another length are none
		for i, word := range words {
			for _, kind := range []string{"Receive:", "Exceptions:"} {
				if word == kind && i+1 < len(words) {
					r.Failed += count(words[i+1])
				}
			}
		}
		r.Failed += count(words[0])
	}
}

// abQuantile reads "  95%     26".
func (r *Run) abQuantile(line string) {
	if words := strings.Fields(line); len(words) == 2 && strings.HasSuffix(words[0], "%") {
		r.quantile(words[0])
	}
}
