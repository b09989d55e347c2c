package meter

import (
	"path"
	"slices"
	"strings"
)

// Kind says what a tree is, for that says which of its processes are workers.
type Kind string

// The kinds of trees.
const (
	KindFPM        Kind = "fpm"        // a master of PHP-FPM and the children of one of its pools
	KindSwoole     Kind = "swoole"     // master, manager, workers, and the artisan command before them
	KindRoadRunner Kind = "roadrunner" // rr, its PHP workers, and the artisan command before them
	KindFrankenPHP Kind = "frankenphp" // one process with threads, and the artisan command before it
	KindPHP        Kind = "php"        // any other PHP that serves by itself
	KindProcess    Kind = "process"    // any other program with what descends from it
	KindGroup      Kind = "group"      // processes found by their name
)

// Titles that processes give themselves.
const (
	fpmMaster   = "php-fpm: master process"
	fpmPool     = "php-fpm: pool "
	swooleTitle = "swoole_http_server: "
)

// program is the name of a program's file.
func program(argument string) string { return path.Base(argument) }

// title is what ps shows of a process that has given itself one.
func title(command []string) string {
	if len(command) == 0 {
		return ""
	}
	return command[0]
}

// starts says whether a command is one that starts servers as a part of itself, and holds no socket: an artisan
// command, or the master of FPM where only its children may be looked at.
func starts(command []string) bool {
	return strings.HasPrefix(title(command), fpmMaster) || artisan(command) >= 0
}

// artisan returns the place of Laravel's artisan among the arguments, or -1.
func artisan(command []string) int {
	if len(command) < 2 || !strings.HasPrefix(program(command[0]), "php") {
		return -1
	}
	return slices.IndexFunc(command, func(argument string) bool { return program(argument) == "artisan" })
}

// recognise says of what kind the tree is, and for FPM which pool.
func (t *Tree) recognise(a address) {
	t.Kind = KindProcess
	for pid := range t.listening {
		command := t.h.command(pid)
		if kind := kindOf(command); kind != KindProcess {
			t.Kind = kind
			break
		}
	}
	if t.Kind == KindFPM {
		t.Pool = t.poolName(a)
	}
}

func kindOf(command []string) Kind {
	if len(command) == 0 {
		return KindProcess
	}
	name := program(command[0])
	switch {
	case strings.HasPrefix(command[0], fpmMaster), strings.HasPrefix(command[0], fpmPool):
		return KindFPM
	case strings.HasPrefix(command[0], swooleTitle), startsSwoole(command):
		return KindSwoole
	case name == "rr" || name == "roadrunner":
		return KindRoadRunner
	case name == "frankenphp":
		return KindFrankenPHP
	case strings.HasPrefix(name, "php"):
		return KindPHP
	}
	return KindProcess
}

// startsSwoole recognises Octane's server before it has given itself a title.
func startsSwoole(command []string) bool {
	return len(command) > 1 && slices.ContainsFunc(command[1:], func(s string) bool { return program(s) == "swoole-server" })
}

// poolName is the pool of the children that wait on the socket: it is their standard input. Where there is none at the
// moment, FPM's configuration says it. Empty where neither does, and the tree is the master with all its pools.
func (t *Tree) poolName(a address) string {
	for pid, descriptor := range t.listening {
		name, ok := strings.CutPrefix(title(t.h.command(pid)), fpmPool)
		if ok && descriptor == "0" {
			return name
		}
	}
	for _, pool := range t.h.fpmPools(t.roots[0].pid) {
		if a.path != "" && (pool.Listen() == a.path || realPath(pool.Listen()) == a.real) || a.path == "" && pool.listensAt(a) {
			return pool.Name
		}
	}
	return ""
}
