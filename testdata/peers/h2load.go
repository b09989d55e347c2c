package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// multiplexed divides requests under way among connections of HTTP/2 with up to four streams each. There are no more
// of them than in the other rows: the children of FPM and the queue in front of them would be what differs.
func multiplexed(connections int) (conns, streams int) {
	streams = min(4, connections)
	return connections / streams, streams
}

// runH2load asks a TLS listener, over kept connections. h2load does not verify the certificate; the checks before
// and after do.
func runH2load(f *front, r row, seconds, connections int) (load, time.Duration, error) {
	dir, err := os.MkdirTemp("", "h2load") // each run needs a new log, for h2load appends to one
	if err != nil {
		return load{}, 0, err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log")
	args := []string{"-D" + strconv.Itoa(seconds), "--log-file=" + log, "--connect-to=" + f.addr}
	protocol := "h2"
	conns, streams := multiplexed(connections)
	if r.Client == http1 {
		protocol, conns, streams = "http/1.1", connections, 1
		args = append(args, "--h1")
	}
	args = append(args, "-c"+strconv.Itoa(conns), "-m"+strconv.Itoa(streams))
	for _, h := range browser {
		args = append(args, "-H", h.name+": "+h.value)
	}
	out, cpu, err := runClient(seconds, "h2load", append(args, "https://"+r.Host+r.Path)...)
	if err != nil {
		return load{}, 0, err
	}
	l, err := parseH2load(out, protocol)
	if err == nil {
		err = l.readLog(log)
	}
	return l, cpu, err
}

var (
	h2Finished = regexp.MustCompile(`(?m)^finished in (\S+), (\S+) req/s, \S+$`)
	h2Requests = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+ failed, \d+ errored, \d+ timeout)$`)
	h2Status   = regexp.MustCompile(`(?m)^status codes: (\d+) 2xx, (\d+ 3xx, \d+ 4xx, \d+ 5xx)$`)
	h2TLS      = regexp.MustCompile(`(?m)^TLS Protocol: TLSv(\S+)\nCipher: (\S+)\nServer Temp Key: (.+?) \d+ bits$`)
	h2Protocol = regexp.MustCompile(`(?m)^Application protocol: (\S+)$`)
)

// parseH2load reads the report that h2load -D prints over TLS, but for the latencies, whose quantiles it lacks.
func parseH2load(out, protocol string) (load, error) {
	finished, requests, status := h2Finished.FindStringSubmatch(out), h2Requests.FindStringSubmatch(out), h2Status.FindStringSubmatch(out)
	spoken, tls := h2Protocol.FindStringSubmatch(out), h2TLS.FindStringSubmatch(out)
	if finished == nil || requests == nil || status == nil || spoken == nil || tls == nil {
		return load{}, fmt.Errorf("h2load: not its report: %q", out)
	}
	var l load
	var errs [5]error
	var succeeded, good int
	l.Duration, errs[0] = shortTime(finished[1])
	l.PerSecond, errs[1] = number(finished[2])
	l.Requests, errs[2] = strconv.Atoi(requests[1])
	succeeded, errs[3] = strconv.Atoi(requests[2])
	good, errs[4] = strconv.Atoi(status[1])
	if err := errors.Join(errs[:]...); err != nil {
		return load{}, fmt.Errorf("h2load: %w", err)
	}
	l.TLS = terms("TLS "+tls[1], tls[2], tls[3])
	var bad []string
	// There may be more statuses than answers: the end comes between the head and the body of some.
	if requests[3] != "0 failed, 0 errored, 0 timeout" || succeeded != l.Requests ||
		status[2] != "0 3xx, 0 4xx, 0 5xx" || good < l.Requests {
		bad = append(bad, requests[0], status[0])
	}
	if l.Requests == 0 {
		bad = append(bad, "no answer")
	}
	if spoken[1] != protocol {
		bad = append(bad, "spoke "+spoken[1]+" instead of "+protocol)
	}
	l.Bad = strings.Join(bad, "; ")
	return l, nil
}

// readLog adds the latencies from the log that h2load has written.
func (l *load) readLog(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := parseH2log(f)
	if err != nil {
		return err
	}
	if len(all) != l.Requests && l.Bad == "" {
		l.Bad = fmt.Sprintf("the log of h2load has %d answers of %d", len(all), l.Requests)
	}
	l.latencies(all)
	return nil
}

// parseH2log reads lines of three numbers: when a request began, the status, and how many microseconds it took.
func parseH2log(r io.Reader) ([]time.Duration, error) {
	var all []time.Duration
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("log of h2load: %q has %d fields", lines.Text(), len(fields))
		}
		took, err := strconv.ParseUint(fields[2], 10, 40)
		if err != nil {
			return nil, fmt.Errorf("log of h2load: %w", err)
		}
		all = append(all, time.Duration(took)*time.Microsecond)
	}
	return all, lines.Err()
}
