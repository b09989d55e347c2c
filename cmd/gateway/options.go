package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// defaultConfig is where the configuration is when there is none in the working directory.
const defaultConfig = "/etc/gateway/gateway.toml"

// options is a parsed command line.
type options struct {
	command string
	config  string
	json    bool
	files   []string // that lint-bench and compare read
	remove  bool
	help    bool
	rest    []string // what follows bench or knee, which have options of their own
}

var ownOptions = map[string]bool{"bench": true, "knee": true}

// parse reads the command line. Options may stand before or after the command.
func parse(args []string) (opt options, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, inline := strings.Cut(arg, "=")
		switch {
		case opt.command == "" && ownOptions[arg]:
			opt.command, opt.rest, args = arg, args, nil
		case arg == "-h" || arg == "--help" || arg == "-help" || arg == "help":
			opt.help = true
		case arg == "--version":
			opt.command = "version"
		case arg == "--json":
			opt.json = true
		case arg == "--remove":
			opt.remove = true
		case name == "-c" || name == "--config":
			if !inline && len(args) > 0 {
				value, args, inline = args[0], args[1:], true
			}
			if opt.config = value; !inline || value == "" {
				return opt, fmt.Errorf("%w: %s wants the name of a file", errUsage, name)
			}
		case strings.HasPrefix(arg, "-"):
			return opt, fmt.Errorf("%w: unknown option %s", errUsage, arg)
		case opt.command == "lint-bench", opt.command == "compare":
			opt.files = append(opt.files, arg)
		case opt.command != "":
			return opt, fmt.Errorf("%w: %q after %q; one command at a time, and a file is named with -c", errUsage, arg, opt.command)
		case commands[arg] == nil:
			return opt, fmt.Errorf("%w: unknown command %q", errUsage, arg)
		default:
			opt.command = arg
		}
	}
	return opt.complete()
}

func (opt options) complete() (options, error) {
	if opt.command == "" && !opt.help {
		return opt, fmt.Errorf("%w: no command", errUsage)
	}
	if opt.json && opt.command != "status" && opt.command != "lint-bench" {
		return opt, fmt.Errorf("%w: --json is for status and lint-bench", errUsage)
	}
	if opt.command == "lint-bench" && len(opt.files) == 0 && !opt.help {
		return opt, fmt.Errorf("%w: lint-bench wants the names of files", errUsage)
	}
	if opt.command == "compare" && len(opt.files) != 2 && !opt.help {
		return opt, fmt.Errorf("%w: compare wants two files that bench --json has written", errUsage)
	}
	if opt.remove && opt.command != "trust" {
		return opt, fmt.Errorf("%w: --remove is for trust", errUsage)
	}
	if opt.config == "" {
		opt.config = "gateway.toml"
		if _, err := os.Stat(opt.config); err != nil {
			opt.config = defaultConfig
		}
	}
	return opt, nil
}

// present returns an error when there is no configuration where the options say.
func (opt options) present() error {
	if _, err := os.Stat(opt.config); errors.Is(err, fs.ErrNotExist) {
		return &hintError{
			fmt.Errorf("%s: no such file", opt.config),
			"name the file with -c, or put it in ./gateway.toml or " + defaultConfig +
				"; gateway.example.toml shows what can stand in it, and gateway demo needs none",
		}
	}
	return nil
}
