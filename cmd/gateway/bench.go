package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"gateway/conf"
	"gateway/proxy"
	"gateway/proxy/bench"
	"gateway/proxy/bench/meter"
)

const benchUsage = `Usage: gateway bench [options]

Is one upstream faster than another for your application, and by how much? Both are asked the same in short blocks
that take turns, each as in production but without the front, and the answer has an interval. When something makes
the run worthless (errors, a throttle, a busy machine ...) it says so by a rule, and names no winner.

What is compared
  -c, --config FILE   the configuration; default ./gateway.toml, else /etc/gateway/gateway.toml
      --site HOST     which site; default the first
      --arm NAME      an upstream, or a URL (NAME=URL names it); twice to compare, once to measure one alone.
                      Default: the site's app and the upstream of its split
      --via tls       through the gateway that runs with this configuration, TLS included

What is asked
      --route ROUTE   such as '/', 'POST /search' or '3*GET /api/users' (three times as often); any number; default /
      --workload FILE routes with headers, bodies and logins, in TOML
      --log FILE      what an access log has, of ours or nginx's combined format, in its order; GET and HEAD alone
      --har FILE      what a browser recorded
      --host HOST     asked for; default the site's
      --header 'NAME: VALUE'
                      sent with every request; any number
      --cookies WHO   none, user (each of --users has his own) or shared; default none

How
      --rate N        requests a second to each arm, as users come: whether or not earlier ones have been answered.
                      Default: half of what the slower arm takes
      --closed N      instead: N clients that wait for each answer. Shows what an arm takes; not for latencies
      --arrivals HOW  poisson or constant; default poisson
      --pairs N       6 to 30; default 12          --for TIME      of a block; default 10s
      --warmup TIME   at most, for each; 2m        --discard TIME  of a block's start; default 2s
      --gap TIME      between blocks; default 2s   --deadline TIME for an answer; default 30s
      --users N       virtual users; default 50    --seed N        of all chances; default by the clock

What comes out (the table goes to stdout, or to stderr where a FILE is - for stdout)
      --json FILE     everything, to be computed again
      --html FILE     a page with charts, in one file
      --bench FILE    lines for benchstat
      --view LAYOUT   table, or as wrk or autocannon print it, of good answers only

Examples
  gateway bench                                                    the first site, its app against its split
  gateway bench --arm fpm --arm octane --route '3*GET /' --route 'GET /api/users' --rate 200
  gateway bench --closed 48 --for 30s --pairs 6 --route /api/ping
  gateway bench --log /var/log/nginx/access.log --json result.json
  gateway bench --arm old=https://10.0.0.7 --arm new=https://10.0.0.8 --host shop.example

Exit status: 0 valid, 1 failed or wrong usage, 2 INVALID, 3 INCONCLUSIVE. Ctrl-C ends a run with what it has.
`

// runBench compares upstreams by load.
func runBench(ctx context.Context, opt options, out, words io.Writer) error {
	b, err := parseBench(opt, "bench")
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, benchUsage)
		return nil
	}
	if err != nil {
		return err
	}
	return b.run(ctx, out, words, func(ctx context.Context, cfg bench.Config) (*bench.Result, error) {
		least, most := cfg.Takes()
		fmt.Fprintf(words, "gateway: %s, %s: %s to %s\n", counted(len(cfg.Arms), "arm"), counted(len(cfg.Workload.Routes), "route"), roughly(least), roughly(most))
		return bench.Run(ctx, cfg)
	})
}

// roughly is a time as people say it.
func roughly(d time.Duration) string {
	if d < 90*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
}

// run opens what is needed, measures, and prints what came of it. The first interrupt ends the measuring, the second the
// program.
func (b *benchOptions) run(ctx context.Context, out, words io.Writer, measure func(context.Context, bench.Config) (*bench.Result, error)) error {
	cfg, arms, err := b.open(words)
	if err != nil {
		return err
	}
	defer arms.Close()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	result, err := measure(ctx, cfg)
	if err != nil {
		return err
	}
	if result.Partial {
		fmt.Fprintln(words, "gateway: ended before its time; this is what there is")
	}
	if err := b.write(result, out, words); err != nil {
		return err
	}
	if code := exitOf[result.Verdict.State]; code != 0 {
		return code
	}
	return nil
}

// open opens the arms and makes the bench for them.
func (b *benchOptions) open(words io.Writer) (cfg bench.Config, arms *proxy.Arms, err error) {
	site, err := b.configuration()
	if err != nil {
		return cfg, nil, err
	}
	arms, err = proxy.OpenArms(site, proxy.ArmsConfig{Site: b.site, Names: b.arms, Via: b.via})
	if err != nil {
		return cfg, nil, err
	}
	if n := len(arms.All); n > 2 {
		arms.Close()
		return cfg, nil, &hintError{fmt.Errorf("%d arms", n), "name two of them with --arm"}
	}
	if b.host == "" {
		b.host = arms.Host
	}
	w, err := b.workload(arms)
	if err != nil {
		arms.Close()
		return cfg, nil, err
	}
	for reason, n := range w.Skipped {
		fmt.Fprintf(words, "gateway: left out: %d %s\n", n, reason)
	}
	facts, _ := new(meter.Host).Facts() // nil where the system does not tell
	return bench.Config{
		Arms: arms.All, Workload: w, Rate: b.rate, Closed: b.closed, Arrivals: b.arrivals, Pairs: b.pairs, Block: b.lasting,
		Discard: b.discard, Gap: b.gap, Warmup: b.warmup, Deadline: b.deadline, Seed: b.seed, Via: b.via, Machine: facts,
		Version: revision(), Command: b.command, Tell: newTeller(words, arms.All).tell,
	}, arms, nil
}

// configuration loads the configuration, unless all arms are URLs, which need none.
func (b *benchOptions) configuration() (*conf.Config, error) {
	if b.needsNone() {
		return nil, nil
	}
	return load(b.options)
}
