package lint

import (
	"strings"
	"time"
)

func (r *Run) autocannon(lines []string) {
	r.Redirects = RedirectsBad
	r.WithHead = true
	var head []string
	told := false
	for _, line := range lines {
		if strings.HasPrefix(line, "│") {
			head = r.row(cells(line), head)
			continue
		}
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Running "):
			r.running(words)
		case len(words) >= 2 && words[1] == "connections":
			r.connections(words)
		case len(words) >= 6 && words[1] == "2xx":
			r.Good, r.Answers, told = count(words[0]), count(words[0])+count(words[3]), true
		case strings.Contains(line, " requests in ") && len(words) >= 4:
			r.Took = duration(strings.TrimSuffix(words[3], ","))
		case len(words) >= 2 && words[1] == "errors":
			r.autocannonErrors(line)
		}
	}
	if r.PerSecond > 0 {
		r.Size /= r.PerSecond
	}
	if !told {
		// The number of requests on the last line includes those that were never answered.
		r.Answers = int64(r.PerSecond*r.Took.Seconds() + 0.5)
		r.Good = r.Answers
	}
	r.Timeout = r.optionTime(10*time.Second, "-t", "--timeout")
	r.Rate, _ = number(r.option("-R", "--overallRate"))
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "│"), "│")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// row reads a row of one of the tables, of which head are the names of the columns; it returns the head for the next row.
func (r *Run) row(row, head []string) []string {
	if len(row) < 2 {
		return head
	}
	at := func(column string) string {
		for i, name := range head {
			if name == column && i < len(row) {
				return row[i]
			}
		}
		return ""
	}
	switch {
	case row[0] == "Stat" || row[0] == "Code":
		return row
	case row[0] == "Latency":
		r.Mean = duration(at("Avg"))
		r.Resolution = time.Millisecond // single latencies are cut to whole milliseconds
		for _, name := range head {
			if strings.HasSuffix(name, "%") {
				r.quantile(name)
			}
		}
	case row[0] == "Req/Sec":
		r.PerSecond, _ = number(at("Avg"))
		for i, name := range head {
			if v, ok := number(row[min(i, len(row)-1)]); strings.HasSuffix(name, "%") && ok && v == 0 {
				r.Dead = append(r.Dead, name)
			}
		}
	case row[0] == "Bytes/Sec":
		r.Size = size(at("Avg"), decimal)
	case len(head) > 0 && head[0] == "Code" && len(row[0]) == 3:
		r.Statuses[int(count(row[0]))] += count(row[1])
	}
	return head
}

// connections reads "100 connections with 10 pipelining factor 3 workers".
func (r *Run) connections(words []string) {
	r.Stated = int(count(words[0]))
	for i, word := range words {
		switch {
		case word == "pipelining" && i > 0:
			r.Pipelined = int(count(words[i-1]))
		case (word == "workers" || word == "worker") && i > 0:
			r.Threads = int(count(words[i-1]))
		}
	}
	r.Connections = r.Stated
	if r.Threads > 1 {
		r.Connections = r.Stated / r.Threads * r.Threads
	}
}

// autocannonErrors reads "91 errors (90 timeouts)".
func (r *Run) autocannonErrors(line string) {
	words := strings.Fields(line)
	all := count(words[0])
	if _, inside, ok := strings.Cut(line, "("); ok {
		r.Timeouts = count(strings.Fields(inside + " 0")[0])
	}
	r.Failed = max(0, all-r.Timeouts)
}
