package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/stat"
)

// What the rules allow.
const (
	mostBad       = 0.001 // share of answers that are not the learnt one
	mostLate      = 0.01  // share of requests that start more than lateBy late
	lateBy        = time.Millisecond
	littleWithin  = 0.10
	mostTrend     = 0.02 // of the p50, in a minute
	mostSteal     = 0.02
	mostPressure  = 0.10
	fewestOffered = 0.99
	mostGenerator = 0.80
	mostGCPause   = time.Millisecond
	fewestASecond = 10 // good answers, before none in another second is no chance
	mostReuseGap  = 0.05
	mostConnRatio = 3
)

// inspect applies the rules that can be told from the blocks.
func (r *Result) inspect() {
	r.Findings = nil
	for arm := range r.Arms {
		all := r.sum(arm)
		if all.Issued == 0 {
			continue // the run was ended before
		}
		r.answers(arm, all)
		r.generator(arm, all)
		r.waiting(arm, all)
		r.machine(arm)
		r.steadiness(arm)
		r.deadSeconds(arm)
	}
	if len(r.Arms) == 2 {
		r.sizes()
		r.connections()
		r.controls()
		r.order()
	}
}

func (r *Result) find(rule string, arm int, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Rule: rule, Arm: arm, Text: fmt.Sprintf(format, args...)})
}

func (r *Result) flag(rule string, arm int, format string, args ...any) {
	r.find(rule, arm, format, args...)
	r.Findings[len(r.Findings)-1].Flag = true
}

// total is what all measured blocks of an arm have in common.
type total struct {
	load.Counts
	faults, errors   map[string]int64
	opened, reused   int64
	lateness         *load.Histogram
	due              int64
	early            int64 // hung since the part that does not count
	generator, pause time.Duration
	wall             time.Duration
}

func (r *Result) sum(arm int) total {
	t := total{faults: map[string]int64{}, errors: map[string]int64{}, lateness: load.NewHistogram()}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Arm != arm {
			continue
		}
		t.Issued += b.Issued
		t.Good += b.Good
		t.Bad += b.Bad
		t.Hung += b.Hung
		t.early += b.Warmup.Hung
		t.Failed += b.Failed
		t.opened += b.Opened
		t.reused += b.Reused
		t.generator += b.GeneratorCPU
		t.pause = max(t.pause, b.GCPause)
		t.wall += b.For
		t.lateness.Merge(b.Lateness)
		t.due += b.Due
		for k, n := range b.Faults {
			t.faults[k] += n
		}
		for k, n := range b.Errors {
			t.errors[k] += n
		}
	}
	return t
}

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// answers are V01, V02, V03 and V18.
func (r *Result) answers(arm int, t total) {
	name := r.Arms[arm].Name
	if t.Good == 0 {
		r.find("V01", arm, "%s gave no good answer at all (%d bad, %d failed, %d hung)", name, t.Bad, t.Failed, t.Hung)
	} else if wrong := t.Bad + t.Failed; share(wrong, t.Issued) > mostBad {
		r.find("V01", arm, "%s: %d of %d answers are not what was learnt (%s)", name, wrong, t.Issued, list(t.faults, t.errors))
	}
	for fault, words := range map[string]string{
		load.Throttled.String(): "a rate limit is answering, not the application: Laravel's throttle middleware, or one of the gateway's",
		load.Expired.String():   "419: the session or the CSRF token is not valid; the workload needs cookies and a login",
		load.Login.String():     "it redirects to the login page; the workload needs a login",
	} {
		if n := t.faults[fault]; n > 0 {
			r.find("V02", arm, "%s, %d times: %s", name, n, words)
		}
	}
	if n := t.faults[load.Body.String()]; n > 0 {
		if upper := stat.Wilson(int(n), int(t.Issued), 0.95).High; upper > 0.005 {
			r.find("V03", arm, "%s: %d answers have other content than was learnt", name, n)
		}
	}
	if n := t.errors[load.Local]; n > 0 {
		r.find("V18", arm, "%d requests failed for want of ports or file descriptors on this machine, which says nothing of %s", n, name)
	}
}

// list names what went wrong, the most frequent first.
func list(maps ...map[string]int64) string {
	type entry struct {
		what string
		n    int64
	}
	var all []entry
	for _, m := range maps {
		for what, n := range m {
			all = append(all, entry{what, n})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.n != b.n {
			return int(b.n - a.n)
		}
		return len(a.what) - len(b.what)
	})
	text := ""
	for i, e := range all {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", e.what, e.n)
	}
	return text
}

// generator is V05 and V16: whether it was the load that was wrong.
func (r *Result) generator(arm int, t total) {
	name := r.Arms[arm].Name
	if cpu := t.generator.Seconds() / t.wall.Seconds() / float64(max(r.Settings.Processors, 1)); cpu > mostGenerator {
		r.find("V05", arm, "the generator used %.0f %% of what it may while %s was measured: it is its speed that shows", 100*cpu, name)
	}
	if t.pause > mostGCPause {
		r.flag("V05", arm, "the generator's collector paused it for up to %s while %s was measured", t.pause.Round(10*time.Microsecond), name)
	}
	if r.Settings.Closed > 0 {
		return // a closed loop is never late, and asks for no rate
	}
	if late := t.lateness.ShareAbove(lateBy); late > mostLate {
		r.find("V05", arm, "%.1f %% of the requests to %s were sent more than %s late (p99 %s): the generator or its ceiling was in the way",
			100*late, name, lateBy, t.lateness.Quantile(0.99).Round(time.Microsecond))
	}
	if ended := share(t.Good+t.Bad+t.Failed, t.due); t.due > 0 && ended < fewestOffered {
		r.find("V16", arm, "%s answered %.1f %% of the %d requests that were due: the rate is beyond what it can do",
			name, 100*ended, t.due)
	}
}

// waiting is V06 and V09.
func (r *Result) waiting(arm int, t total) {
	name := r.Arms[arm].Name
	if hung := t.Hung + t.early; hung > 0 {
		r.find("V09", arm, "%d requests to %s had no answer at the end of their block; no latency tells of them", hung, name)
	}
	var little, flying float64
	for i := range r.Blocks {
		b := &r.Blocks[i]
		seconds := b.For.Seconds() - r.Settings.Discard.Seconds()
		if b.Arm != arm || seconds <= 0 {
			continue
		}
		little += float64(b.Good) / seconds * b.Service.Mean().Seconds()
		flying += b.MeanInFlight
	}
	// Under one request in flight on average, the ends of a block weigh as much as what is between them.
	if flying >= 1 && math.Abs(little/flying-1) > littleWithin {
		r.find("V06", arm, "%s: rate times latency is %.2f of the requests that were in flight; the rest is not in the latency", name, little/flying)
	}
}

// machine is V11 and V12.
func (r *Result) machine(arm int) {
	name := r.Arms[arm].Name
	var steal, pressure []float64
	restarts, kills := 0, 0
	for i := range r.Blocks {
		u := r.Blocks[i].Usage
		if r.Blocks[i].Arm != arm || u == nil {
			continue
		}
		steal, pressure = append(steal, u.Stolen), append(pressure, u.Pressure)
		restarts += u.Restarts
		kills += u.OOMKills
	}
	if len(steal) == 0 {
		return
	}
	if s := spreadOf(steal); s.Median > mostSteal {
		r.find("V12", -1, "the host took %.1f %% of this machine's time while %s was measured", 100*s.Median, name)
	}
	if p := spreadOf(pressure); p.Median > 1-mostPressure {
		r.flag("V12", -1, "processes waited for a CPU %.0f %% of the time while %s was measured", 100*p.Median, name)
	}
	if kills > 0 {
		r.find("V11", arm, "the kernel killed %d processes of %s for want of memory", kills, name)
	}
	if restarts > 0 {
		r.flag("V11", arm, "%d workers of %s were started anew within the blocks: planned recycling (--max-requests, pm.max_requests) or crashes",
			restarts, name)
	}
}

// sizes is V04.
func (r *Result) sizes() {
	for route := range r.Routes {
		var of [2]float64
		for i := range r.Blocks {
			b := &r.Blocks[i]
			if route < len(b.Block.Routes) && b.Block.Routes[route].Good > 0 {
				of[b.Arm] = float64(b.Block.Routes[route].Bytes) / float64(b.Block.Routes[route].Good)
			}
		}
		if of[0] == 0 || of[1] == 0 {
			continue
		}
		if ratio := of[1] / of[0]; ratio < 0.98 || ratio > 1.02 {
			r.flag("V04", -1, "%s: the answers of %s have %.0f bytes, those of %s %.0f", r.Routes[route].Name,
				r.Arms[0].Name, of[0], r.Arms[1].Name, of[1])
		}
	}
}

// connections is V15. A fresh connection for each request is how FPM is spoken to, so that only arms of one kind are held
// against each other.
func (r *Result) connections() {
	if r.Arms[0].Kind != r.Arms[1].Kind {
		return
	}
	var reuse [2]float64
	for arm := range reuse {
		t := r.sum(arm)
		reuse[arm] = share(t.reused, t.reused+t.opened)
	}
	if math.Abs(reuse[0]-reuse[1]) > mostReuseGap {
		r.find("V15", -1, "%s was asked on kept connections for %.0f %% of the requests, %s for %.0f %%",
			r.Arms[0].Name, 100*reuse[0], r.Arms[1].Name, 100*reuse[1])
	}
}
