package compare

import (
	"slices"
	"strings"
)

// pattern is a place in JSON, by its keys; an index is "[*]".
type pattern struct {
	text  string
	steps []string
}

const (
	anyStep  = "*"
	anySteps = "**"
	item     = "[*]"
)

// patterns reads places such as "data[*].updated_at" and `a["b.c"]`.
func patterns(texts []string) (all []pattern) {
	for _, text := range texts {
		all = append(all, pattern{text, steps(text)})
	}
	return all
}

func steps(text string) (all []string) {
	rest := strings.TrimPrefix(text, "$")
	for rest != "" {
		switch {
		case rest[0] == '.':
			rest = rest[1:]
		case strings.HasPrefix(rest, `["`):
			key, after, _ := strings.Cut(rest[2:], `"]`)
			all, rest = append(all, key), after
		case rest[0] == '[':
			_, after, _ := strings.Cut(rest, "]")
			all, rest = append(all, item), after
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			all, rest = append(all, rest[:end]), rest[end:]
		}
	}
	return all
}

// walk follows several patterns down a document at once. Nil follows none.
type walk []progress

type progress struct {
	*pattern
	at int // steps that are done
}

func start(all []pattern) walk {
	var w walk
	for i := range all {
		w = append(w, progress{&all[i], 0})
	}
	return w
}

// step goes one key or item down.
func (w walk) step(name string) walk {
	var next walk
	for _, p := range w {
		next = p.step(name, next)
	}
	return next
}

func (p progress) step(name string, next walk) walk {
	if p.at == len(p.steps) {
		return next
	}
	switch want := p.steps[p.at]; {
	case want == anySteps:
		next = next.with(p) // it takes this step, and others after it
		return progress{p.pattern, p.at + 1}.step(name, next)
	case want == name, want == anyStep:
		return next.with(progress{p.pattern, p.at + 1})
	}
	return next
}

// with adds p once: several ** would double it at each step.
func (w walk) with(p progress) walk {
	if slices.Contains(w, p) {
		return w
	}
	return append(w, p)
}

// ends returns the text of a pattern that ends here, or "".
func (w walk) ends() string {
	for _, p := range w {
		rest := p.steps[p.at:]
		for len(rest) > 0 && rest[0] == anySteps {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return p.text
		}
	}
	return ""
}
