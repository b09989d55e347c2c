package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strings"
	"time"

	"gateway/proxy"
	"gateway/proxy/bench"
	engine "gateway/proxy/bench/load"
	"gateway/proxy/bench/report"
	"gateway/proxy/bench/workload"
)

// benchOptions is the command line of bench and of knee.
type benchOptions struct {
	options
	site, host, via string
	arms            []string

	routes           []string
	file, log, har   string
	header           http.Header
	cookies          string
	users            int
	rate             float64
	closed, pairs    int
	arrivals         engine.Arrivals
	lasting, discard time.Duration
	gap, warmup      time.Duration
	deadline, slo    time.Duration
	seed             uint64
	json             string
	html, gobench    string
	view             func(io.Writer, *bench.Result) error // in place of the table; nil is the table
	command          []string
}

// several collects the values of an option that may be given more than once.
func several(to *[]string) func(string) error {
	return func(value string) error {
		*to = append(*to, value)
		return nil
	}
}

func parseBench(opt options, command string) (*benchOptions, error) {
	b := &benchOptions{options: opt, header: http.Header{}, command: append([]string{"gateway", command}, opt.rest...)}
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	b.common(flags)
	if command == "bench" {
		b.ofBench(flags)
	} else {
		b.ofKnee(flags)
	}
	switch err := flags.Parse(opt.rest); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %v", errUsage, err)
	case flags.NArg() > 0:
		return nil, fmt.Errorf("%w: %q: %s takes options only", errUsage, flags.Arg(0), command)
	}
	return b, b.check()
}

func (b *benchOptions) common(flags *flag.FlagSet) {
	for _, name := range []string{"c", "config"} {
		flags.StringVar(&b.config, name, b.config, "")
	}
	flags.StringVar(&b.site, "site", "", "")
	flags.Func("arm", "", several(&b.arms))
	flags.StringVar(&b.via, "via", "", "")
	flags.Func("route", "", several(&b.routes))
	flags.StringVar(&b.file, "workload", "", "")
	flags.StringVar(&b.log, "log", "", "")
	flags.StringVar(&b.har, "har", "", "")
	flags.StringVar(&b.host, "host", "", "")
	flags.Func("header", "", b.addHeader)
	flags.StringVar(&b.cookies, "cookies", "", "")
	flags.IntVar(&b.users, "users", 0, "")
	flags.Func("arrivals", "", b.setArrivals)
	flags.DurationVar(&b.warmup, "warmup", 0, "")
	flags.DurationVar(&b.gap, "gap", 0, "")
	flags.DurationVar(&b.deadline, "deadline", 0, "")
	flags.Uint64Var(&b.seed, "seed", 0, "")
	flags.StringVar(&b.json, "json", "", "")
}

func (b *benchOptions) ofBench(flags *flag.FlagSet) {
	flags.StringVar(&b.html, "html", "", "")
	flags.StringVar(&b.gobench, "bench", "", "")
	flags.Func("view", "", b.setView)
	flags.Float64Var(&b.rate, "rate", 0, "")
	flags.IntVar(&b.closed, "closed", 0, "")
	flags.IntVar(&b.pairs, "pairs", 0, "")
	flags.DurationVar(&b.lasting, "for", 0, "")
	flags.DurationVar(&b.discard, "discard", 0, "")
}

func (b *benchOptions) ofKnee(flags *flag.FlagSet) {
	flags.DurationVar(&b.slo, "slo", 0, "")
	flags.DurationVar(&b.lasting, "step", 0, "")
}

func (b *benchOptions) addHeader(line string) error {
	name, value, found := strings.Cut(line, ":")
	if !found || strings.TrimSpace(name) == "" {
		return errors.New(`want "Name: value"`)
	}
	b.header.Add(textproto.TrimString(name), textproto.TrimString(value))
	return nil
}

func (b *benchOptions) setArrivals(how string) error {
	for _, known := range []engine.Arrivals{engine.Poisson, engine.Constant} {
		if how == known.String() {
			b.arrivals = known
			return nil
		}
	}
	return errors.New("want poisson or constant")
}

// check says what cannot be meant. A number below zero would otherwise be taken for a default somewhere.
func (b *benchOptions) check() error {
	negative := b.rate < 0 || b.closed < 0 || b.pairs < 0 || b.users < 0 ||
		min(b.lasting, b.discard, b.gap, b.warmup, b.deadline, b.slo) < 0
	sources := 0
	for _, given := range []bool{len(b.routes) > 0, b.file != "", b.log != "", b.har != ""} {
		if given {
			sources++
		}
	}
	switch {
	case negative:
		return fmt.Errorf("%w: a number below zero", errUsage)
	case sources > 1:
		return fmt.Errorf("%w: more than one of --route, --workload, --log and --har", errUsage)
	case b.via != "" && b.via != "tls":
		return fmt.Errorf("%w: --via %s; want tls", errUsage, b.via)
	case b.via != "" && b.needsNone():
		return fmt.Errorf("%w: --via is for upstreams, and a URL is asked as it is", errUsage)
	}
	return nil
}

// needsNone says whether the arms are all URLs, which are known without a configuration.
func (b *benchOptions) needsNone() bool {
	for _, arm := range b.arms {
		if !strings.Contains(arm, "://") {
			return false
		}
	}
	return len(b.arms) > 0
}

// workload reads what is to be asked of arms.
func (b *benchOptions) workload(arms *proxy.Arms) (*workload.Workload, error) {
	w, err := b.readWorkload()
	if err != nil {
		return nil, err
	}
	if w.Host == "" {
		w.Host = b.host
	}
	if b.cookies != "" {
		w.Cookies = workload.Cookies(b.cookies)
	}
	if b.users > 0 {
		w.Users = b.users
	}
	w.Drop(func(r workload.Route) bool { return !arms.HasHost(cmp.Or(r.Host, w.Host)) }, "routes of other sites")
	w.Drop(func(r workload.Route) bool { return !arms.ReachesApp(r.Method, r.Target) }, "routes that the gateway answers itself (--via tls would ask it)")
	for _, routes := range [][]workload.Route{w.Routes, w.Login} {
		for i := range routes {
			addHeaders(&routes[i], b.header)
		}
	}
	return w, w.Check()
}

func addHeaders(r *workload.Route, more http.Header) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	for name, values := range more {
		r.Header[name] = append(r.Header[name], values...)
	}
}

func (b *benchOptions) readWorkload() (*workload.Workload, error) {
	switch {
	case b.file != "":
		return workload.Load(b.file, b.host)
	case b.log != "":
		return readFrom(b.log, b.host, workload.ReadAccessLog)
	case b.har != "":
		return readFrom(b.har, b.host, workload.ReadHAR)
	}
	w := &workload.Workload{Host: b.host}
	if len(b.routes) == 0 {
		b.routes = []string{"/"}
	}
	for _, text := range b.routes {
		r, err := workload.ParseRoute(text)
		if err != nil {
			return nil, err
		}
		w.Routes = append(w.Routes, r)
	}
	return w, nil
}

func readFrom(name, host string, read func(io.Reader, string) (*workload.Workload, error)) (*workload.Workload, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	w, err := read(file, host)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// setView takes the layout of a tool that the reader knows.
func (b *benchOptions) setView(name string) error {
	switch name {
	case "table":
		b.view = nil
	case "wrk":
		b.view = report.Wrk
	case "autocannon":
		b.view = report.Autocannon
	default:
		return fmt.Errorf("unknown view %q; want table, wrk or autocannon", name)
	}
	return nil
}
