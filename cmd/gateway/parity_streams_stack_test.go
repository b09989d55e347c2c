//go:build stack

package main_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The pieces of a stream are so far apart that a busy machine does not hold one back until the next.
const streamGap = 400 * time.Millisecond

// streamCases look at when each piece of an answer arrives.
var streamCases = []parityCase{
	lines("/api/stream/4/400", streamGap),
	lines("/flush", 200*time.Millisecond),
	one("events", events),
	one("events from the sixth on", func(c *client) answer { return eventsFrom(c, "Last-Event-ID: 6") }),
	one("a stream that is left", func(c *client) answer {
		return c.leaving(fmt.Sprintf("/api/endless/parity-%s/5", port(c)), len("line 1\nline 2\n"))
	}),
	one("stream to HTTP/1.0", func(c *client) answer {
		return c.raw("GET /api/stream/3/10 HTTP/1.0\r\nHost: localhost\r\n\r\n")
	}),
	one("a thousand lines", func(c *client) answer { return c.get("/api/stream/1000/0") }),
}

// How a stream came.
const (
	asProduced = "each piece before the next was made"
	heldBack   = "held back"
)

var eventAt = regexp.MustCompile(`"at":(\d+)`)

func events(c *client) answer { return eventsFrom(c) }

// eventsFrom reads events, which say when they were made: each has to be there before the next one is made.
func eventsFrom(c *client, header ...string) answer {
	link := c.dial()
	defer link.close()
	link.send(c.head("GET", "/api/sse/3/"+strconv.FormatInt(streamGap.Milliseconds(), 10), header...))
	a := c.read(link, false)
	a.kept = link.reuse()
	a.delivery = asProduced
	var arrived time.Duration
	for i, m := range eventAt.FindAllSubmatchIndex(a.body, -1) {
		ms, _ := strconv.ParseInt(string(a.body[m[2]:m[3]]), 10, 64)
		made := time.Duration(ms) * time.Millisecond
		if i > 0 && arrived >= made {
			a.delivery = heldBack
		}
		arrived = a.arrival(m[1] + len("}\n\n"))
		a.timing = append(a.timing, arrived-made)
	}
	return c.settle(a, link)
}

// lines reads lines that do not say when they were made. They were passed on as they came if the last is later than
// the first by more than half of the time that making them takes.
func lines(target string, gap time.Duration) parityCase {
	return one(target+" in time", func(c *client) answer {
		a := c.get(target)
		var arrivals []time.Duration
		for end := 0; ; {
			n := bytes.IndexByte(a.body[end:], '\n')
			if n < 0 {
				break
			}
			end += n + 1
			arrivals = append(arrivals, a.arrival(end))
		}
		for i := range max(0, len(arrivals)-1) {
			a.timing = append(a.timing, arrivals[i+1]-arrivals[i])
		}
		a.delivery = heldBack
		if n := len(arrivals) - 1; n > 0 && arrivals[n]-arrivals[0] > time.Duration(n)*gap/2 {
			a.delivery = asProduced
		}
		return a
	})
}

// compareTiming notes where a piece took longer on one side than on the other by the time between two pieces, so that
// it was there no sooner than the next one was made.
func compareTiming(note func(name, a, b string), nginx, ours answer) {
	note("delivery", nginx.delivery, ours.delivery)
	if nginx.delivery != asProduced || ours.delivery != asProduced {
		return
	}
	for i := range min(len(nginx.timing), len(ours.timing)) {
		if more := (ours.timing[i] - nginx.timing[i]).Abs(); more > streamGap {
			note(fmt.Sprintf("timing %d", i+1), nginx.timing[i].String(), ours.timing[i].String())
		}
	}
}

// isTiming says whether a difference may come from a machine that was busy with something else for a moment.
func isTiming(d difference) bool {
	return d.name == "delivery" || strings.HasPrefix(d.name, "timing ")
}

func port(c *client) string { return c.addr[strings.LastIndexByte(c.addr, ':')+1:] }
