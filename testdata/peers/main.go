// Peers measures the gateway beside nginx and Caddy on this machine, and writes BENCHMARKS.md.
//
//	go run ./testdata/peers [--rounds N] [--seconds N] [--connections N] [--rows a,b,...] [--peers nginx,gateway,...]
//
// Tables go to stdout, progress to stderr. Exit 0: all figures count; 1: some do not, or the run failed; 2: wrong usage.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"gateway/testdata/stack"
)

// options is the command line.
type options struct {
	settled
	rows  []row
	peers []peer
	all   bool // rows and peers are all there are
}

func main() {
	if part := parts[first(os.Args[1:])]; part != nil {
		if err := part(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(1)
		}
		return
	}
	opt, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
	os.Exit(stack.Run(func(t stack.T) int { return run(t, opt) }))
}

// parts are what this program is when it starts itself: backends, the peer that is Go's own proxy, and clients. Only
// generators, which compares what clients cost, is for others to start.
var parts = map[string]func(args []string) error{
	"fastcgi":    func(args []string) error { return serveTrivial(os.Stdout, fastCGI(), "unix", args[0]) },
	"http":       func(args []string) error { return serveTrivial(os.Stdout, plainHTTP(), "tcp", args[0]) },
	"transport":  func(args []string) error { return serveTransport(args[0], args[1]) },
	"generate":   func(args []string) error { return generate(os.Stdout, args) },
	"generators": compareGenerators,
	"handshakes": func(args []string) error { return shakeHands(os.Stdout, args[0]) },
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// defaultSeconds keeps a whole run well below half an hour.
const defaultSeconds = 4

func parse(args []string) (opt options, err error) {
	flags := flag.NewFlagSet("peers", flag.ExitOnError)
	flags.IntVar(&opt.Rounds, "rounds", fewestRounds, "how often everything is measured")
	flags.IntVar(&opt.Seconds, "seconds", defaultSeconds, "how long each measurement lasts")
	flags.IntVar(&opt.Connections, "connections", 16, "requests under way at once")
	rows := flags.String("rows", "", "keys of the rows, with commas; all by default")
	peers := flags.String("peers", "", "keys of the peers, with commas; all by default")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	if flags.NArg() > 0 || min(opt.Rounds, opt.Seconds, opt.Connections) < 1 {
		return opt, fmt.Errorf("want numbers from 1 on and no arguments")
	}
	if opt.rows, err = choose("--rows", *rows, allRows(), func(r row) string { return r.Key }); err != nil {
		return opt, err
	}
	opt.peers, err = choose("--peers", *peers, allPeers(), func(p peer) string { return p.Key })
	opt.all = *rows == "" && *peers == ""
	return opt, err
}

func run(t stack.T, opt options) int {
	cores, err := divide()
	if err != nil {
		t.Fatalf("%v", err)
	}
	rig := newRig(t, cores, opt.Connections)
	result := &report{
		Facts: gather(rig.app, os.Args[1:]), Settled: opt.settled, Cores: cores,
		Rows: readFile(t, rig.app, opt.rows), complete: opt.all && opt.Rounds >= fewestRounds,
	}
	var fronts []*front
	for _, p := range opt.peers {
		if p.kind == "caddy" && !installed(rig.app) {
			result.LeftOut = append(result.LeftOut, "Caddy, which is not installed (testdata/install.sh bench)")
			fmt.Fprintf(os.Stderr, "\nLEFT OUT: %s\n\n", result.LeftOut[0])
			continue
		}
		fronts = append(fronts, rig.startAll(p, result.Rows)...)
		result.Peers = append(result.Peers, p)
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	result.Samples, err = measureAll(os.Stderr, plan(opt.Rounds, result.Rows, fronts, random), opt.settled)
	if err != nil {
		t.Fatalf("%v", err)
	}
	sameTLS(result.Samples)
	result.Facts = append(result.Facts, tlsFacts(result.Samples, result.Peers)...)
	return finish(t, result, rig.app.Source)
}

// finish shows and keeps the result.
func finish(t stack.T, r *report, testdata string) int {
	r.tables(os.Stdout)
	kept, err := r.keep(testdata, time.Now().UTC().Format("bench-20060102-150405.json"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	fmt.Fprintf(os.Stderr, "\n%s\n", r.noise())
	for _, path := range kept {
		fmt.Fprintln(os.Stderr, "written:", path)
	}
	if !r.valid() {
		fmt.Fprintln(os.Stderr, "peers: some figures are INVALID")
		return 1
	}
	return 0
}

// readFile sets what a row about a file wants.
func readFile(t stack.T, app *stack.Application, rows []row) []row {
	for i := range rows {
		if rows[i].Path != file {
			continue
		}
		body, err := os.ReadFile(filepath.Join(app.Public, file))
		if err != nil {
			t.Fatalf("%v", err)
		}
		rows[i].want = string(body)
	}
	return rows
}

func installed(app *stack.Application) bool {
	_, err := os.Stat(caddyBinary(app.Source))
	return err == nil
}
