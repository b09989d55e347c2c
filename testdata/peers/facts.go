package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"gateway/testdata/stack"
)

// fact is something about the machine and the programs on it, without which figures mean little.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// gather asks the machine and each program. What cannot be told is said to be unknown.
func gather(app *stack.Application, args []string) []fact {
	root := app.Source + "/.."
	changed := ""
	if said("git", "-C", root, "status", "--porcelain", "--untracked-files=no") != "" {
		changed = ", with changes"
	}
	return []fact{
		{"Date", time.Now().UTC().Format("2006-01-02 15:04 MST")},
		{"Command", strings.TrimSpace("go run ./testdata/peers " + strings.Join(args, " "))},
		{"Machine", cpuModel() + ", " + strconv.Itoa(runtime.NumCPU()) + " cores, " + memory()},
		{"Kernel", orUnknown(said("uname", "-sr"))},
		{"Gateway", orUnknown(said("git", "-C", root, "describe", "--always")) + changed + ", " + runtime.Version()},
		{"nginx", nginxVersion(said(nginxBinary(), "-V"))},
		{"Caddy", moduleVersion(caddyBinary(app.Source))},
		{"PHP-FPM", find(`PHP (\S+)`, said("php-fpm8.2", "-v")) + ", OPcache on, no JIT"},
		{"Laravel", orUnknown(said("dpkg-query", "-W", "-f", "${Version}", "php-laravel-framework"))},
		{"wrk", find(`wrk (\S+)`, said("wrk", "-v"))},
		{"h2load", find(`h2load (\S+)`, said("h2load", "--version"))},
		{"Certificate", "ECDSA P-256, signed by a root of the same kind that is not sent"},
	}
}

// nginxVersion names the TLS library too, which may be newer than the one that nginx was built with.
func nginxVersion(text string) string {
	library := find(`(?m)^built with (\S+ \S+)`, text)
	if running := find(`\(running with (\S+ \S+)`, text); running != "unknown" {
		library = running
	}
	return find(`nginx/(\S+)`, text) + ", " + library
}

// moduleVersion is what the Go program says it was built from. Caddy's own command knows its version only when Caddy's
// own scripts have built it.
func moduleVersion(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "unknown"
	}
	return info.Main.Version + ", " + info.GoVersion
}

// said is what a command writes, trimmed. wrk and nginx write their versions as errors, and wrk fails.
func said(name string, args ...string) string {
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil {
		name = path
	}
	out, _ := exec.Command(name, args...).CombinedOutput()
	return string(bytes.TrimSpace(out))
}

func find(pattern, text string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return "unknown"
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	return find(`(?m)^model name\s*:\s*(.*)$`, string(text))
}

func memory() string {
	text, _ := os.ReadFile("/proc/meminfo")
	kib, err := strconv.Atoi(find(`MemTotal:\s+(\d+) kB`, string(text)))
	if err != nil {
		return "memory unknown"
	}
	return strconv.Itoa(kib>>20) + " GiB"
}
