package meter

import (
	"path"
	"strconv"
	"strings"
)

// option returns the value of a long option: --name=value, or --name value.
func option(command []string, name string) (string, bool) {
	for i, argument := range command {
		if value, ok := strings.CutPrefix(argument, "--"+name+"="); ok {
			return value, true
		}
		if argument == "--"+name && i+1 < len(command) {
			return command[i+1], true
		}
	}
	return "", false
}

// roadRunner returns a setting that rr was given: -o name=value.
func roadRunner(command []string, name string) (string, bool) {
	for i, argument := range command {
		if value, ok := strings.CutPrefix(argument, name+"="); ok && i > 0 && command[i-1] == "-o" {
			return value, true
		}
	}
	return "", false
}

// environ returns the variables that a process was started with, and that we may look at.
func (h *host) environ(pid int) map[string]string {
	text, err := h.text(procDir(pid) + "/environ")
	if err != nil {
		return nil
	}
	values := map[string]string{}
	for _, pair := range strings.Split(text, "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok && isEnvironmentName(name) {
			values[name] = value
		}
	}
	return values
}

// maxRequests is after how many requests a worker is replaced: 0 is never. Octane's own default is 500.
func (t *Tree) maxRequests(processes []process) string {
	if t.Kind == KindFPM {
		settings, ok := t.settings()
		if value := settings["pm.max_requests"]; value != "" {
			return value
		}
		if ok {
			return "0" // FPM's default
		}
		return Unknown
	}
	octane := false
	for _, p := range processes {
		command := t.h.command(p.pid)
		if value, ok := roadRunner(command, "http.pool.max_jobs"); ok {
			return value
		}
		if value, ok := option(command, "max-requests"); ok {
			return value
		}
		octane = octane || isOctane(command)
	}
	if value := t.h.environ(t.listener())["MAX_REQUESTS"]; value != "" {
		return value
	}
	if octane {
		return "500"
	}
	return Unknown
}

// workerCount is how many workers there are. Those of FrankenPHP are threads like others: it was told how many.
func (t *Tree) workerCount(s snapshot) string {
	if t.Kind != KindFrankenPHP {
		return strconv.Itoa(len(s.workers))
	}
	if value := t.h.environ(t.listener())["WORKER_COUNT"]; value != "" {
		return value
	}
	for _, p := range s.processes {
		if value, ok := option(t.h.command(p.pid), "workers"); ok && value != "auto" {
			return value
		}
	}
	return Unknown
}

func isOctane(command []string) bool {
	at := artisan(command)
	return at >= 0 && at+1 < len(command) && strings.HasPrefix(command[at+1], "octane:")
}

// listener is the first of those that held the socket when the tree was found.
func (t *Tree) listener() int {
	first := t.Pid()
	for pid := range t.listening {
		if first == t.Pid() || pid < first {
			first = pid
		}
	}
	return first
}

// applicationOf returns the folder of the application that a process runs: that of its artisan, or the folder it is in
// if there is one.
func (h *host) applicationOf(pid int) string {
	cwd, err := h.link(procDir(pid) + "/cwd")
	if err != nil {
		return ""
	}
	dir := cwd
	command := h.command(pid)
	if at := artisan(command); at >= 0 {
		dir = path.Dir(command[at])
		if !path.IsAbs(dir) {
			dir = path.Join(cwd, dir)
		}
	}
	if dir = inside(pid, dir); h.exists(dir + "/artisan") {
		return dir
	}
	return ""
}
