package conf

import (
	"fmt"
	"strings"
)

// Error is one fault in a file, with its place.
type Error struct {
	// File is the file as the user would name it, Line and Col count from one; Col counts characters.
	File      string
	Line, Col int
	// Key is the path of the key, such as site[0].hosts[1]; empty when no key is to blame.
	Key string
	// Msg says what is wrong and what was expected.
	Msg string
}

// Error returns "FILE:LINE:COL: KEY: MESSAGE".
func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Col, e.Key, e.Msg)
}

// Errors is every fault that one load found, in the order of files and lines. There is at least one.
type Errors struct {
	List []*Error
	// Files and Digest are those of Config, as far as the load came.
	Files  []string
	Digest string
}

// Error returns all faults, one a line.
func (e *Errors) Error() string {
	lines := make([]string, len(e.List))
	for i, one := range e.List {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find each fault.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.List))
	for i, one := range e.List {
		all[i] = one
	}
	return all
}
