package lint

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/stat"
)

// What the rules allow.
const (
	mostBad        = 0.001
	littleWithin   = 0.10
	shortest       = time.Second // shorter runs are mostly start and end
	mostThreadRate = 1.5
	fewestOffered  = 0.99
)

// State is what became of a rule.
type State string

// The states of a rule.
const (
	OK      State = "ok"
	Broken  State = "broken"  // takes the verdict away
	Flag    State = "flag"    // to be known by whoever reads the figures
	Unknown State = "unknown" // cannot be told from the output
)

// Check is one rule, applied.
type Check struct {
	Rule  string `json:"rule"`
	State State  `json:"state"`
	Text  string `json:"text"`
}

// checks collects what the rules say.
type checks []Check

func (c *checks) add(rule string, state State, format string, args ...any) {
	*c = append(*c, Check{rule, state, fmt.Sprintf(format, args...)})
}

// check applies all rules that concern one run.
func (r *Run) check() checks {
	var c checks
	if r.Tool == "table" {
		r.checkTable(&c)
		return c
	}
	r.answers(&c)
	r.limiters(&c)
	r.generator(&c)
	r.little(&c)
	r.steady(&c)
	r.hung(&c)
	r.quantiles(&c)
	r.manner(&c)
	r.offered(&c)
	if r.Local > 0 {
		c.add("V18", Broken, "%s requests failed for want of ports or file descriptors", thousands(r.Local))
	}
	return c
}

func (r *Run) checkTable(c *checks) {
	c.add("V01", Unknown, "figures without the output they come from: nothing says how many answers were good")
	latency := slices.ContainsFunc(r.Columns, func(s string) bool { return strings.Contains(s, "latency") })
	if latency {
		c.add("V06", Unknown, "neither rate nor connections stand beside the latency")
	} else {
		c.add("V06", Unknown, "no latency at all")
	}
	for percent, column := range r.quantileColumns() {
		var who []string
		for _, tool := range tools {
			if !prints(tool, percent) {
				who = append(who, fmt.Sprintf("%s (%s %%)", tool, printed[tool]))
			}
		}
		if len(r.Command) > 0 && !prints(r.Command[0], percent) {
			c.add("V10", Broken, "%s: the stated command prints no quantile of %s %%; %s prints %s %%",
				column, percent, r.Command[0], printed[r.Command[0]])
		} else if len(r.Command) == 0 && len(who) > 0 {
			c.add("V10", Unknown, "%s: not printed by %s", column, strings.Join(who, " nor by "))
		}
	}
}

// answers is V01.
func (r *Run) answers(c *checks) {
	all := r.Answers + r.Failed
	wrong := all - r.Good
	switch {
	case all == 0:
		c.add("V01", Broken, "no answer at all")
	case r.Good == 0:
		c.add("V01", Broken, "0 good answers of %s%s: all figures are those of errors", thousands(all), r.statuses())
	case float64(wrong) > mostBad*float64(all):
		c.add("V01", Broken, "%s of %s answers are not good%s, and they are in the averages", thousands(wrong), thousands(all), r.statuses())
	default:
		c.add("V01", OK, "%s of %s answers are good%s", thousands(r.Good), thousands(all), r.statuses())
	}
}

// statuses lists them, if they are known.
func (r *Run) statuses() string {
	if len(r.Statuses) == 0 {
		return ""
	}
	var all []int
	for status := range r.Statuses {
		all = append(all, status)
	}
	slices.Sort(all)
	var list []string
	for _, status := range all {
		list = append(list, fmt.Sprintf("%d: %s", status, thousands(r.Statuses[status])))
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// before says who answers before the application does.
var before = map[int]string{
	429: "a throttle is answering", 503: "a limit, or a maintenance page", 419: "the session or the CSRF token is not valid",
	401: "nobody is logged in", 301: "a redirect", 302: "a redirect, perhaps to a login", 303: "a redirect", 307: "a redirect",
}

// limiters is V02.
func (r *Run) limiters(c *checks) {
	var seen []string
	for _, status := range []int{429, 503, 419, 401, 301, 302, 303, 307} {
		if n := r.Statuses[status]; n > 0 {
			seen = append(seen, fmt.Sprintf("%s answers of %d: %s", thousands(n), status, before[status]))
		}
	}
	if len(seen) > 0 {
		c.add("V02", Broken, "%s", strings.Join(seen, "; "))
		return
	}
	switch {
	case r.Redirects == RedirectsGood:
		c.add("V02", Unknown, "%s counts redirects as good and prints no status, so that a login page would not show", r.Tool)
	case r.Redirects == RedirectsFollowed:
		c.add("V02", Unknown, "%s follows redirects, so that a login page would count as good", r.Tool)
	case r.Good < r.Answers && len(r.Statuses) == 0:
		c.add("V02", Unknown, "which status the bad answers have is not printed")
	default:
		c.add("V02", OK, "redirects are not taken for good answers")
	}
}

// generator is V05.
func (r *Run) generator(c *checks) {
	host := r.host()
	threads := ""
	if r.Threads > 0 {
		threads = fmt.Sprintf(" with %d threads", r.Threads)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		c.add("V05", Flag, "%s%s ran on the machine that it measured and took CPU from it; how much is not printed", r.Tool, threads)
		return
	}
	c.add("V05", Unknown, "%s does not print whether it kept up", r.Tool)
}

func (r *Run) host() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// little is V06: in a closed loop, all connections are in flight all the time.
func (r *Run) little(c *checks) {
	n, mean := float64(r.inFlight()), r.Mean.Seconds()
	switch {
	case n == 0:
		c.add("V06", Unknown, "%s does not print its connections; put the command line into the file, on a line above", r.Tool)
		return
	case r.Took > 0 && r.Took < shortest:
		c.add("V06", Unknown, "in %s, start and end weigh too much", r.Took)
		return
	case mean == 0 || r.answered() == 0:
		if r.Answers == 0 {
			c.add("V06", Broken, "%s in flight, and no answer", r.opened())
		} else {
			c.add("V06", Unknown, "no mean latency was printed, or 0")
		}
		return
	case r.Resolution.Seconds()/mean > littleWithin:
		c.add("V06", Unknown, "a mean of %s is printed to the next %s, which is too coarse", r.Mean, r.Resolution)
		return
	}
	r.littleOf(c, n)
}

func (r *Run) littleOf(c *checks, n float64) {
	mean := r.Mean.Seconds()
	flying := r.answered() * mean
	share := flying / n
	// What is in flight at the end is in no latency; it has been under way for half of one, on average.
	end := 0.0
	if r.Took > 0 {
		end = min(0.5, mean/(2*r.Took.Seconds()))
	}
	rounding := r.Resolution.Seconds() / mean
	said := fmt.Sprintf("rate x latency = %s in flight of %s, %.2f of them", figure(flying), r.opened(), share)
	limited := r.Rate > 0
	switch {
	case share*(1+rounding)+end < 1-littleWithin && !limited:
		c.add("V06", Broken, "%s: %.0f %% of the load is in no latency", said, 100*(1-share-end))
	case share*(1-rounding) > 1+littleWithin:
		c.add("V06", Broken, "%s: more than there were connections, so that the mean is not that of the answers", said)
	case limited:
		c.add("V06", OK, "%s, at a limited rate", said)
	default:
		c.add("V06", OK, "%s: a closed loop, so that the latency is the length of the queue divided by the rate", said)
	}
}

// opened says how many requests were in flight and where that comes from.
func (r *Run) opened() string {
	var how []string
	if r.Pipelined > 1 {
		how = append(how, fmt.Sprintf("%d connections x %d at once", r.Connections, r.Pipelined))
	}
	if r.Connections != r.Stated {
		how = append(how, fmt.Sprintf("%d threads share %d and round down", r.Threads, r.Stated))
	}
	text := thousands(int64(r.inFlight()))
	if len(how) > 0 {
		text += " (" + strings.Join(how, ", ") + ")"
	}
	return text
}

// steady is V07.
func (r *Run) steady(c *checks) {
	sum := r.ThreadRate * float64(r.Threads)
	switch {
	case len(r.Dead) > 0:
		c.add("V07", Flag, "dead seconds: %s of the rates by the second are 0, and the seconds are in the average", strings.Join(r.Dead, " and "))
	case sum > 0 && r.PerSecond > 0 && sum/r.PerSecond > mostThreadRate:
		c.add("V07", Flag, "the threads' rates add up to %s a second, the run made %s: wrk's samples leave out the times in which nothing was answered",
			figure(sum), figure(r.PerSecond))
	case r.Tool == "autocannon":
		c.add("V07", OK, "no second without an answer")
	default:
		c.add("V07", Unknown, "%s prints no course of time", r.Tool)
	}
}

// hung is V09.
func (r *Run) hung(c *checks) {
	length := r.Asked
	if length == 0 {
		length = r.Took
	}
	switch {
	case r.Timeouts > 0:
		c.add("V09", Broken, "%s requests timed out; no latency tells of them", thousands(r.Timeouts))
	case r.Timeout > length && length > 0 && r.has("-t", "-T", "-s", "--timeout"), r.Timeout > length && r.option("--timeout") != "":
		c.add("V09", Flag, "the timeout of %s is longer than the run of %s and hides hung requests", r.Timeout, length.Round(time.Second))
	case r.Tool == "wrk":
		c.add("V09", Unknown, "wrk counts a timeout when the answer comes late; one that never comes is not counted")
	case r.Command == nil:
		c.add("V09", Unknown, "no timeouts were printed, and the timeout is not known")
	default:
		c.add("V09", OK, "no timeouts")
	}
}

// quantiles is V10.
func (r *Run) quantiles(c *checks) {
	var thin []string
	for _, q := range r.Quantiles {
		if beyond := math.Min(q, 100-q) / 100 * float64(r.Answers); beyond < stat.FewestBeyond {
			thin = append(thin, fmt.Sprintf("%g %%", q))
		}
	}
	switch {
	case len(r.Quantiles) == 0:
		c.add("V10", Unknown, "no quantile was printed; a mean hides the slow ones")
	case len(thin) > 0:
		c.add("V10", Flag, "%s: less than %d of %s samples are beyond", strings.Join(thin, ", "), stat.FewestBeyond, thousands(r.Answers))
	default:
		c.add("V10", OK, "at least %d samples are beyond each quantile", stat.FewestBeyond)
	}
}

// manner is V15.
func (r *Run) manner(c *checks) {
	switch {
	case r.Pipelined > 1 && r.Tool == "autocannon":
		c.add("V15", Flag, "%d requests at once on each connection: no browser and no proxy sends pipelines to PHP", r.Pipelined)
	case r.Reconnects:
		c.add("V15", Flag, "each request opens a connection of its own, which is part of the latency")
	}
}

// offered is V16.
func (r *Run) offered(c *checks) {
	if r.Rate <= 0 {
		return
	}
	if share := r.answered() / r.Rate; share < fewestOffered {
		c.add("V16", Broken, "%s a second of the %s that were asked for", figure(r.answered()), figure(r.Rate))
		return
	}
	c.add("V16", OK, "%s a second, as asked for", figure(r.answered()))
}

// judge makes a verdict of checks. What V01 and V06 are about must be known.
func (c checks) judge() bench.Verdict {
	var broken, unknown, flags []string
	for _, one := range c {
		switch {
		case one.State == Broken:
			broken = append(broken, one.Rule)
		case one.State == Unknown && (one.Rule == "V01" || one.Rule == "V06"):
			unknown = append(unknown, one.Rule)
		case one.State == Flag:
			flags = append(flags, one.Rule)
		}
	}
	switch {
	case len(broken) > 0 && len(unknown) < 2:
		return bench.Verdict{State: bench.Invalid, Winner: -1, Text: strings.Join(broken, ", ")}
	case len(unknown) > 0:
		return bench.Verdict{State: bench.Inconclusive, Winner: -1, Text: "cannot be checked: " + strings.Join(unknown, ", ")}
	case len(flags) > 0:
		return bench.Verdict{State: bench.Valid, Winner: -1, Text: "but see " + strings.Join(flags, ", ")}
	}
	return bench.Verdict{State: bench.Valid, Winner: -1}
}
