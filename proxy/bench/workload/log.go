package workload

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// mostRoutes bounds how many different requests of a file are told apart.
const mostRoutes = 10_000

// mostOrder bounds how many requests of a file are played.
const mostOrder = 1_000_000

// collector makes a workload of requests as they are read.
type collector struct {
	workload Workload
	known    map[string]int
}

func newCollector(host string) *collector {
	return &collector{Workload{Host: host, Skipped: map[string]int{}}, map[string]int{}}
}

func (c *collector) skip(reason string) { c.workload.Skipped[reason]++ }

// add takes a request that was seen. Those that may change something are left out: a log has no bodies, and to send them
// again would do again what they did.
func (c *collector) add(r Route) {
	switch {
	case !IsSafe(r.Method):
		c.skip("that may change something (" + r.Method + ")")
		return
	case len(c.workload.Order) == mostOrder:
		c.skip("beyond the first " + strconv.Itoa(mostOrder))
		return
	}
	if r.Host == "" {
		r.Host = c.workload.Host
	}
	key := r.Method + " " + r.Host + r.Target
	number, known := c.known[key]
	if !known {
		if len(c.workload.Routes) == mostRoutes {
			c.skip("of routes beyond the first " + strconv.Itoa(mostRoutes))
			return
		}
		if err := r.check("example"); err != nil {
			c.skip("that are malformed")
			return
		}
		number = len(c.workload.Routes)
		c.known[key] = number
		c.workload.Routes = append(c.workload.Routes, r)
	}
	c.workload.Routes[number].Weight++
	c.workload.Order = append(c.workload.Order, number)
}

func (c *collector) done() (*Workload, error) {
	w := &c.workload
	for i := range w.Routes {
		w.Routes[i].Weight-- // the one that check gave
	}
	return w, w.Check()
}

// combined is nginx's log format of that name.
var combined = regexp.MustCompile(`^\S+ \S+ .*? \[[^\]]*\] "([A-Za-z-]+) (\S+) HTTP/[0-9.]+" ([0-9]{3}) `)

// ReadAccessLog makes a workload of an access log: the gateway's own in JSON, or nginx's in the combined format. host is
// asked where the log names none.
func ReadAccessLog(from io.Reader, host string) (*Workload, error) {
	c := newCollector(host)
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "":
		case line[0] == '{':
			c.addOwn(line)
		default:
			c.addCombined(line)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, errors.New("a line is longer than 1 MiB: not an access log")
		}
		return nil, err
	}
	return c.done()
}

func (c *collector) addOwn(line string) {
	var entry struct {
		Message string `json:"msg"`
		Method  string `json:"method"`
		Host    string `json:"host"`
		URI     string `json:"uri"`
	}
	switch err := json.Unmarshal([]byte(line), &entry); {
	case err != nil:
		c.skip("lines that are no JSON")
	case entry.Message != "request":
		c.skip("lines about something else")
	case strings.Contains(entry.URI, "***"):
		c.skip("whose secrets the log left out")
	default:
		c.add(Route{Method: entry.Method, Host: entry.Host, Target: entry.URI})
	}
}

func (c *collector) addCombined(line string) {
	m := combined.FindStringSubmatch(line)
	if m == nil {
		c.skip("lines in another format")
		return
	}
	c.add(Route{Method: m[1], Target: m[2]})
}
