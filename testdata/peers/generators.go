package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	bench "gateway/proxy/bench/load"
	"gateway/upstream"
)

// What a generator of load costs: the gateway's own beside wrk and h2load, all in a closed loop over kept connections, from
// one thread on a core of its own, against the trivial HTTP backend on another.

// generator is one of those that are compared.
type generator struct {
	name string
	argv func(addr string, seconds, connections int) []string
	read func(out string) (load, error)
}

func generators() ([]generator, error) {
	self, err := os.Executable()
	return []generator{
		{"wrk", func(addr string, seconds, connections int) []string {
			return append([]string{"wrk", "-t1", "-c" + strconv.Itoa(connections), "-d" + strconv.Itoa(seconds) + "s", "--latency"},
				append(browserOptions(), "http://"+addr+"/hello")...)
		}, parseWrk},
		{"h2load", func(addr string, seconds, connections int) []string {
			return append([]string{"h2load", "--h1", "-t1", "-c" + strconv.Itoa(connections), "-D" + strconv.Itoa(seconds)},
				append(browserOptions(), "http://"+addr+"/hello")...)
		}, parsePlainH2load},
		{"gateway", func(addr string, seconds, connections int) []string {
			return []string{self, "generate", addr, strconv.Itoa(seconds), strconv.Itoa(connections)}
		}, func(out string) (l load, err error) { return l, json.Unmarshal([]byte(out), &l) }},
	}, err
}

func browserOptions() (options []string) {
	for _, h := range browser {
		options = append(options, "-H", h.name+": "+h.value)
	}
	return options
}

// generate is the part that the gateway's generator plays.
func generate(out io.Writer, args []string) error {
	if len(args) != 3 {
		return errors.New("generate ADDRESS SECONDS CONNECTIONS")
	}
	seconds, err := strconv.Atoi(args[1])
	connections, err2 := strconv.Atoi(args[2])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	transport, err := upstream.NewHTTP(upstream.HTTPConfig{Address: args[0], MaxIdle: connections})
	if err != nil {
		return err
	}
	defer transport.Close()
	r := &bench.Request{Method: "GET", Target: "/hello", Host: args[0], Header: http.Header{}, User: -1}
	for _, h := range browser {
		r.Header.Set(h.name, h.value)
	}
	plan := bench.Plan{Closed: connections, For: time.Duration(seconds) * time.Second, Routes: 1}
	b, err := bench.Run(context.Background(), plan, always{r}, &bench.TransportArm{Transport: transport}, statusOK{}, nil)
	if err != nil {
		return err
	}
	l := load{
		Requests: int(b.Good), Duration: b.For, PerSecond: b.Rate(0), P50: b.Response.Quantile(0.5), P99: b.Response.Quantile(0.99),
	}
	if b.Good < b.Issued {
		l.Bad = fmt.Sprintf("%+v, %v", b.Counts, b.Errors)
	}
	return json.NewEncoder(out).Encode(l)
}

// always asks the same.
type always struct{ *bench.Request }

func (a always) Next() *bench.Request { return a.Request }

type statusOK struct{}

func (statusOK) Judge(_ *bench.Request, a *bench.Answer) bench.Fault {
	if a.Status != http.StatusOK {
		return bench.Status
	}
	return bench.None
}

var (
	plainFinished = regexp.MustCompile(`(?m)^finished in (\S+), (\S+) req/s, \S+$`)
	plainRequests = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, 0 failed, 0 errored, 0 timeout$`)
)

// parsePlainH2load reads what h2load -D prints without TLS. It has no quantiles.
func parsePlainH2load(out string) (load, error) {
	finished, requests := plainFinished.FindStringSubmatch(out), plainRequests.FindStringSubmatch(out)
	if finished == nil || requests == nil {
		return load{}, fmt.Errorf("h2load: not its report, or not all was well: %q", out)
	}
	var l load
	var errs [3]error
	l.Duration, errs[0] = shortTime(finished[1])
	l.PerSecond, errs[1] = number(finished[2])
	l.Requests, errs[2] = strconv.Atoi(requests[2])
	return l, errors.Join(errs[:]...)
}

// cost is one run of a generator.
type cost struct {
	load
	cpu time.Duration
}

func (c cost) perRequest() float64 {
	return float64(c.cpu.Nanoseconds()) / 1e3 / float64(max(1, c.Requests))
}
func (c cost) perCPUSecond() float64 { return float64(c.Requests) / max(c.cpu.Seconds(), 1e-9) }

// compareGenerators is the part that measures them: so many rounds, in each of which all have a turn, in an order by chance.
func compareGenerators(args []string) error {
	flags := flag.NewFlagSet("generators", flag.ExitOnError)
	rounds := flags.Int("rounds", fewestRounds, "how often each is measured")
	seconds := flags.Int("seconds", defaultSeconds, "how long")
	connections := flags.Int("connections", 16, "requests under way at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := generators()
	if err != nil {
		return err
	}
	cores, err := divide()
	if err == nil {
		err = cores.pinSelf()
	}
	if err != nil {
		return err
	}
	addr, stop, err := startTrivialHTTP()
	if err != nil {
		return err
	}
	defer stop()
	costs := map[string][]cost{}
	for round := range *rounds {
		for _, i := range rand.Perm(len(all)) {
			c, err := all[i].run(cores, addr, *seconds, *connections)
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			costs[all[i].name] = append(costs[all[i].name], c)
			fmt.Fprintf(os.Stderr, "round %d: %-8s %8.0f/s  %6.2f us CPU\n", round+1, all[i].name, c.PerSecond, c.perRequest())
		}
	}
	printCosts(os.Stdout, all, costs)
	return nil
}

// run has a generator ask, on the front core.
func (g generator) run(c cores, addr string, seconds, connections int) (cost, error) {
	argv := c.front(g.argv(addr, seconds, connections))
	out, cpu, err := runClient(seconds, argv[0], argv[1:]...)
	if err != nil {
		return cost{}, err
	}
	l, err := g.read(out)
	if err == nil && l.Bad != "" {
		err = errors.New(l.Bad)
	}
	return cost{l, cpu}, err
}

// startTrivialHTTP starts the trivial backend as a process of its own.
func startTrivialHTTP() (addr string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self, "http", "127.0.0.1:0")
	cmd.Env, cmd.Stderr = goEnv(), os.Stderr
	said, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the trivial backend does not start: %w", err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), stop, nil
}

// printCosts prints a row for each generator, with its ratio to wrk round by round.
func printCosts(out io.Writer, all []generator, costs map[string][]cost) {
	fmt.Fprintf(out, "%-8s  %-28s  %-24s  %-28s  %s\n", "", "requests/s", "CPU us/request", "requests per CPU second", "of wrk's")
	reach := func(form string, of []cost, value func(cost) float64) (string, []float64) {
		var values []float64
		for _, c := range of {
			values = append(values, value(c))
		}
		s := spreadOf(values)
		return fmt.Sprintf(form+" ("+form+"..."+form+")", s.Median, s.Min, s.Max), values
	}
	_, base := reach("%.0f", costs[all[0].name], cost.perCPUSecond)
	for _, g := range all {
		rate, _ := reach("%.0f", costs[g.name], func(c cost) float64 { return c.PerSecond })
		each, _ := reach("%.2f", costs[g.name], cost.perRequest)
		per, values := reach("%.0f", costs[g.name], cost.perCPUSecond)
		var ratios []float64
		for i := range values {
			ratios = append(ratios, values[i]/base[i])
		}
		s := spreadOf(ratios)
		fmt.Fprintf(out, "%-8s  %-28s  %-24s  %-28s  %.2f (%.2f...%.2f)\n", g.name, rate, each, per, s.Median, s.Min, s.Max)
	}
}
