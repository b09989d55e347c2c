package lint

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxFile is the most that Read reads of a file, in bytes.
const MaxFile = 1 << 20

// ErrUnknown is returned for a file that none of the tools has printed and that is no table.
var ErrUnknown = errors.New("not the output of wrk, autocannon, hey, oha or ab, and no table")

// Read takes apart what a tool printed. The command line may stand before it, on a line of its own: some tools do not
// print how many connections they opened.
func Read(file string, text []byte) (*Run, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, MaxFile)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s: %w", file, ErrUnknown)
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	r := &Run{File: file, Statuses: map[int]int64{}}
	for _, line := range lines[:min(len(lines), 5)] {
		if r.Command = commandLine(line); r.Command != nil {
			break
		}
	}
	r.URL = r.url()
	read := r.format(lines)
	if read == nil {
		return nil, fmt.Errorf("%s: %w", file, ErrUnknown)
	}
	read(lines)
	return r, nil
}

// format recognises a tool by a line that it alone prints.
func (r *Run) format(lines []string) func(lines []string) {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Thread Stats"):
			r.Tool = "wrk"
			return r.wrk
		case strings.HasPrefix(line, "│ Stat"):
			r.Tool = "autocannon"
			return r.autocannon
		case strings.HasPrefix(line, "This is ApacheBench"), strings.HasPrefix(line, "Concurrency Level:"):
			r.Tool = "ab"
			return r.ab
		case strings.HasPrefix(line, "Success rate:"):
			r.Tool = "oha"
			return r.oha
		case strings.HasPrefix(line, "Requests/sec:") && len(r.Command) > 0 && r.Command[0] == "oha":
			r.Tool = "oha"
			return r.oha
		case strings.HasPrefix(line, "Latency distribution:"), strings.HasPrefix(line, "DNS+dialup:"):
			r.Tool = "hey"
			return r.hey
		}
	}
	if isTable(lines) {
		r.Tool = "table"
		return r.table
	}
	return nil
}

// label splits "Requests/sec:  80.93" into its two halves.
func label(line string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimSpace(line), ":")
	return name, strings.TrimSpace(value)
}
