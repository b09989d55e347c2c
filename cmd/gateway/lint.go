package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"gateway/proxy/bench"
	"gateway/proxy/bench/lint"
)

// exitCode ends the program with that code and without a word: all that is to be said has been printed.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitOf are the exit codes of verdicts.
var exitOf = map[string]exitCode{bench.Invalid: 2, bench.Inconclusive: 3}

// lintBench says of what other tools have printed whether it may be believed.
func lintBench(_ context.Context, opt options, out, _ io.Writer) error {
	var runs []*lint.Run
	var failed []error
	for _, name := range opt.files {
		r, err := readRun(name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		runs = append(runs, r)
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	report := lint.Lint(runs)
	if opt.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return err
		}
	} else {
		report.Print(out)
	}
	if code := exitOf[report.State()]; code != 0 {
		return code
	}
	return nil
}

func readRun(name string) (*lint.Run, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, lint.MaxFile+1))
	if err != nil {
		return nil, err
	}
	return lint.Read(name, text)
}
