package main

import (
	"fmt"
	"strings"
)

func (a answer) ok(status int) bool { return a.err == nil && a.StatusCode == status }

// brief is an answer in a few words.
func (a answer) brief() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d, %d bytes, %.1f ms", a.StatusCode, len(a.body), float64(a.took.Microseconds())/1000)
}

// runtime is the one that answered.
func (a answer) runtime() string {
	if strings.Contains(a.body, "Octane") {
		return "Octane"
	}
	return "FPM"
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

func within(n, least, most int) bool { return least <= n && n <= most }

// indent sets text off, without spaces on empty lines.
func indent(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
