// Command gateway is the web server for Laravel: files, PHP-FPM and Octane behind one short file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"gateway/conf"
	"gateway/proxy"
)

const usage = `Usage: gateway COMMAND [options]

The web server for Laravel: public files, PHP-FPM over FastCGI, Octane over HTTP, and the users split
between the two.

Commands
  run      serve until told to stop: SIGHUP reloads, SIGTERM lets requests finish, a second one does not
  check    load the configuration, build all of it, and say what each site will do
  reload   tell a running gateway to load its configuration anew
  status   ask a running gateway how it is
  trust    make this machine trust the certificates of local names; --remove takes that back
  bench    compare two upstreams by load, with intervals and rules; gateway bench --help
  knee     find how many requests a second each upstream takes; gateway knee --help
  compare BEFORE AFTER
           hold two runs against each other that bench --json has written
  lint-bench FILE...
           say whether what wrk, autocannon, hey, oha or ab printed may be believed, and compared
  demo     show the main job on this machine: needs no PHP, no configuration, no root
  version  print the version

Options
  -c, --config FILE   the configuration; default ./gateway.toml, else /etc/gateway/gateway.toml
      --json          for status and lint-bench: the whole answer as JSON
      --remove        for trust: take it back
  -h, --help          this page

Examples
  gateway demo
  gateway check -c gateway.toml
  gateway run -c /etc/gateway/gateway.toml
  gateway bench --arm fpm --arm octane --route 'GET /api/users'
  gateway lint-bench fpm.txt octane.txt
  systemctl reload gateway        or  gateway reload  or  kill -HUP $(pidof gateway)

Exit status: 0 done, 1 failed, 2 wrong usage; of bench, knee and lint-bench 0 valid, 1 failed,
2 INVALID, 3 INCONCLUSIVE or, of lint-bench, cannot be checked.
`

// errUsage is a command line that makes no sense; the message says why.
var errUsage = errors.New("wrong usage")

// command is one word of the command line.
type command func(ctx context.Context, opt options, out, words io.Writer) error

var commands = map[string]command{
	"run": run, "check": check, "reload": reload, "status": status, "trust": trustRoots, "demo": demo,
	"version": version, "bench": runBench, "knee": knee, "lint-bench": lintBench, "compare": compare,
}

func main() { os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr)) }

func realMain(args []string, out, words io.Writer) int {
	opt, err := parse(args)
	switch {
	case err != nil:
		complain(words, err)
		return 2
	case opt.help:
		fmt.Fprint(out, usage)
		return 0
	}
	if err := commands[opt.command](context.Background(), opt, out, words); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			return int(code)
		}
		complain(words, err)
		return 1
	}
	return 0
}

// complain prints every error that err is made of, one a line, and what can be done about them.
func complain(words io.Writer, err error) {
	var hints []string
	for _, one := range flatten(err) {
		fmt.Fprintf(words, "gateway: error: %v\n", one)
		if hint := hintFor(one); hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	for _, hint := range hints {
		fmt.Fprintf(words, "gateway: hint: %s\n", hint)
	}
}

func hintFor(err error) string {
	var listen *proxy.ListenError
	var hinted *hintError
	switch {
	case errors.As(err, &listen):
		return listen.Hint
	case errors.As(err, &hinted):
		return hinted.hint
	case errors.Is(err, errUsage):
		return "gateway --help lists the commands and options"
	}
	return ""
}

// flatten splits a joined error into its parts.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, flatten(one)...)
		}
		return all
	}
	return []error{err}
}

// hintError is an error whose cure is known.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// load reads the configuration that the options name.
func load(opt options) (*conf.Config, error) {
	if err := opt.present(); err != nil {
		return nil, err
	}
	return conf.Load(opt.config)
}
