package lint

import (
	"path"
	"strings"
	"time"
)

var tools = []string{"wrk", "autocannon", "hey", "oha", "ab"}

// commandLine returns the words of a line that calls one of the tools, such as "$ wrk -t4 -c100 http://shop.test/".
func commandLine(line string) []string {
	words := strings.Fields(strings.TrimLeft(line, "$#> \t"))
	if len(words) < 2 {
		return nil
	}
	name := path.Base(words[0])
	for _, tool := range tools {
		if name == tool || tool == "wrk" && name == "wrk2" {
			words[0] = tool
			return words
		}
	}
	return nil
}

// option returns the value of the first of names that is in the command line, in any of the ways of writing it:
// -c 100, -c100, --connections=100.
func (r *Run) option(names ...string) string {
	for i, word := range r.Command {
		for _, name := range names {
			rest, ok := strings.CutPrefix(word, name)
			switch {
			case !ok:
			case rest == "" && i+1 < len(r.Command):
				return r.Command[i+1]
			case strings.HasPrefix(rest, "="):
				return rest[1:]
			case len(name) == 2 && rest != "" && rest[0] >= '0' && rest[0] <= '9':
				return rest
			}
		}
	}
	return ""
}

// has says whether one of the words is in the command line.
func (r *Run) has(names ...string) bool {
	for _, word := range r.Command {
		for _, name := range names {
			if word == name {
				return true
			}
		}
	}
	return false
}

// optionOr is option for whole numbers, with the tool's own default.
func (r *Run) optionOr(usual int, names ...string) int {
	if n := count(r.option(names...)); n > 0 {
		return int(min(n, 1<<30))
	}
	return usual
}

func (r *Run) optionTime(usual time.Duration, names ...string) time.Duration {
	if d := duration(r.option(names...)); d > 0 {
		return d
	}
	return usual
}

// url returns the word of the command line that is one.
func (r *Run) url() string {
	for _, word := range r.Command {
		if word = strings.Trim(word, `"'`); strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			return word
		}
	}
	return ""
}
