//go:build stack

package main_test

import (
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	headTime    = 2 * time.Second // what a head may take
	kibPerFlood = 24              // KiB of RSS that a connection with half a head may cost
)

// TestSlowHeads holds many connections on which a head comes byte by byte and never ends, as Slowloris does. They are
// dropped on time, they cost little, and other clients are served. SLOW_CONNECTIONS and SLOW_SECONDS make it larger than
// there is time for in every run; the latencies are in the log, since what else the machine does is in them too.
func TestSlowHeads(t *testing.T) {
	connections, lasting := fromEnv(t, "SLOW_CONNECTIONS", 1000), time.Duration(fromEnv(t, "SLOW_SECONDS", 5))*time.Second
	p := startGateway(t, "limits = { header_timeout = \""+headTime.String()+"\" }\n"+site(t)+fastcgiUpstream("app", fpmPool()))
	v := visit(t, p)
	quiet := latencies(t, v, lasting)
	before := p.kib(t, "VmRSS")
	p.forgetPeak(t)

	stop := flood(t, p, connections)
	loud := latencies(t, v, lasting)
	lives := stop()

	more := p.kib(t, "VmHWM") - before
	t.Logf("%d connections for %s: median %s, p99 %s; without them %s and %s; %d KiB more",
		connections, lasting, at(loud, .5), at(loud, .99), at(quiet, .5), at(quiet, .99), more)
	if more > connections*kibPerFlood {
		t.Errorf("RSS rose by %d KiB, want at most %d for each of %d connections", more, kibPerFlood, connections)
	}
	if len(lives) < connections {
		t.Errorf("%d connections were dropped, want all of %d at least once", len(lives), connections)
	}
	t.Logf("they lived for %s, at most %s", at(lives, .5), at(lives, 1))
	if early, late := at(lives, 0), at(lives, .99); early < headTime/2 || late > headTime+2*time.Second {
		t.Errorf("connections lived for %s to %s, want about %s", early, late, headTime)
	}
}

// latencies asks for a file and for a page of PHP until the time is over, and returns how long that took, sorted.
func latencies(t *testing.T, v *visitor, lasting time.Duration) (took []time.Duration) {
	t.Helper()
	for end := time.Now().Add(lasting); time.Now().Before(end); {
		took = append(took, v.ok("/hello.txt").took, v.ok("/api/ping").took)
	}
	slices.Sort(took)
	return took
}

// at returns the value below which the share q of sorted is.
func at(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// flood holds n connections that send a byte of a head now and then, and makes a new one for each that is dropped. stop
// ends that once all that are there have been dropped, and returns how long each had lived, sorted.
func flood(t *testing.T, p *process, n int) (stop func() []time.Duration) {
	var mu sync.Mutex // guards lives
	var lives []time.Duration
	var running sync.WaitGroup
	enough := make(chan struct{})
	for range n {
		running.Go(func() {
			for more := true; more; {
				lived, err := live(p.addr)
				if err != nil {
					t.Errorf("a slow connection: %v", err)
					return
				}
				mu.Lock()
				lives = append(lives, lived)
				mu.Unlock()
				select {
				case <-enough:
					more = false
				default:
				}
			}
		})
	}
	return func() []time.Duration {
		close(enough)
		running.Wait()
		slices.Sort(lives)
		return lives
	}
}

// live begins a head, goes on with it byte by byte and returns how long the server let it.
func live(addr string) (time.Duration, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begun := time.Now()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")); err != nil {
		return 0, err
	}
	one := make([]byte, 1)
	for time.Since(begun) < time.Minute {
		if err := conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
			return 0, err
		}
		if _, err := conn.Read(one); err != nil && !os.IsTimeout(err) {
			break
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			break
		}
	}
	return time.Since(begun), nil
}

// fromEnv is a number that can be made larger from outside.
func fromEnv(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	try(t, err)
	return n
}
