package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"gateway/proxy/bench"
	"gateway/proxy/bench/report"
)

// compare holds two runs against each other, an earlier and a later one, and says when they cannot be.
func compare(_ context.Context, opt options, out, _ io.Writer) error {
	var runs [2]*bench.Result
	for i, name := range opt.files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		runs[i], err = report.Read(file)
		file.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return report.Compare(runs[0], runs[1]).Text(out)
}
