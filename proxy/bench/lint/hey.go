package lint

import (
	"strings"
	"time"
)

func (r *Run) hey(lines []string) {
	r.Redirects = RedirectsFollowed
	if r.has("-disable-redirects", "--disable-redirects") {
		r.Redirects = RedirectsBad
	}
	r.Reconnects = r.has("-disable-keepalive", "--disable-keepalive")
	r.summary(lines)
	if r.Command == nil {
		return // it prints neither connections nor timeout
	}
	r.Stated = r.optionOr(50, "-c", "--c")
	r.Connections = r.Stated
	r.Timeout = r.optionTime(20*time.Second, "-t", "--t")
	each, _ := number(r.option("-q", "--q"))
	r.Rate = each * float64(r.Connections)
	r.Asked = r.optionTime(0, "-z", "--z")
}

func (r *Run) oha(lines []string) {
	r.Redirects = RedirectsFollowed
	if r.option("--redirect") == "0" {
		r.Redirects = RedirectsBad
	}
	r.Reconnects = r.has("--disable-keepalive")
	r.summary(lines)
	if r.Command == nil {
		return
	}
	r.Stated = r.optionOr(50, "-c", "--connections")
	r.Connections = r.Stated
	r.Pipelined = r.optionOr(1, "-p", "--http2-parallel")
	r.Timeout = r.optionTime(0, "-t", "--timeout") // none, unless it is asked for
	r.Rate, _ = number(r.option("-q", "--query-per-second"))
	r.Asked = r.optionTime(0, "-z", "--duration")
}

// summary reads what hey and oha print alike.
func (r *Run) summary(lines []string) {
	section := ""
	for _, line := range lines {
		name, value := label(line)
		switch {
		case value == "" && name != "" && strings.HasSuffix(strings.TrimSpace(line), ":"):
			section = name
		case strings.HasPrefix(name, "["):
			r.bracketed(section, line)
		case strings.Contains(line, "% in "):
			r.quantile(strings.Fields(line)[0])
		case name == "Total":
			r.Took = duration(value)
		case name == "Average":
			r.Mean, r.Resolution = duration(value), lastDigit(value)
		case name == "Requests/sec":
			r.PerSecond, _ = number(value)
		case name == "Size/request":
			r.Size = size(value, binary)
		}
	}
	for status, n := range r.Statuses {
		r.Answers += n
		if status >= 200 && status < 300 {
			r.Good += n
		}
	}
}

// bracketed reads a line of a distribution: "[200]	5964 responses" and "[50] aborted due to deadline".
func (r *Run) bracketed(section, line string) {
	inside, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "["), "]")
	switch section {
	case "Status code distribution":
		if words := strings.Fields(rest); len(words) > 0 {
			r.Statuses[int(min(count(inside), 999))] += count(words[0])
		}
	case "Error distribution":
		r.failure(count(inside), strings.ToLower(rest))
	}
}

func (r *Run) failure(n int64, why string) {
	switch {
	case strings.Contains(why, "aborted due to deadline"):
		// The run was over; oha ends what is in flight then.
	case strings.Contains(why, "timeout"), strings.Contains(why, "deadline exceeded"), strings.Contains(why, "timed out"):
		r.Timeouts += n
	default:
		r.Failed += n
		if strings.Contains(why, "too many open files") || strings.Contains(why, "assign requested address") {
			r.Local += n
		}
	}
}
