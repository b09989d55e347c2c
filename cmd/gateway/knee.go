package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"gateway/proxy/bench"
)

const kneeUsage = `Usage: gateway knee [options]

How many requests a second does each upstream take before answers come too late? The rate climbs by 1.3 from a fifth
of what a short closed loop reaches; where it fails, the way is halved down to 5 %, and what is left must be kept
three times. A rate is kept when 99 of 100 requests are answered in time, 999 of 1000 as they should be, 95 of 100
within --slo, and the number under way does not grow. The arms take turns at each step.

      --slo TIME      default: five times the p95 of the slower arm at the lowest rate
      --step TIME     how long a rate is tried; default 20s, and longer where a p95 could not be told
      --json FILE     everything; - is stdout
  -c, --config, --site, --arm, --via, --route, --workload, --log, --har, --host, --header, --cookies, --users,
      --arrivals, --warmup, --gap, --deadline and --seed are those of gateway bench --help

Examples
  gateway knee
  gateway knee --arm octane --route '3*GET /' --route 'GET /api/users' --slo 200ms

Exit status: 0 found, 1 failed or wrong usage, 2 INVALID, 3 INCONCLUSIVE. Ctrl-C ends it with what it has.
`

// knee finds what upstreams take.
func knee(ctx context.Context, opt options, out, words io.Writer) error {
	b, err := parseBench(opt, "knee")
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, kneeUsage)
		return nil
	}
	if err != nil {
		return err
	}
	return b.run(ctx, out, words, func(ctx context.Context, cfg bench.Config) (*bench.Result, error) {
		return bench.FindKnee(ctx, bench.KneeConfig{Config: cfg, SLO: b.slo, Step: b.lasting})
	})
}
