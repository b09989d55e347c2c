// Package lint reads what wrk, autocannon, hey, oha and ab print, and says whether it may be believed: the rules of
// package bench, as far as they can be told from the output of another tool.
package lint

import (
	"math"
	"time"
)

// Run is what a tool printed of one run. A zero field means that it was not printed.
type Run struct {
	File string
	// Tool is wrk, autocannon, hey, oha or ab; "table" for figures without the output they come from.
	Tool string
	// Command holds the words of the command line, when the file begins with it.
	Command []string
	URL     string

	Threads     int
	Stated      int // connections that were asked for
	Connections int // that were really opened: tools that share them among threads round down
	Pipelined   int // requests at once on each connection
	Reconnects  bool
	Asked, Took time.Duration // length of the run
	Timeout     time.Duration
	Rate        float64 // requests a second that were asked for

	Answers, Good int64
	Redirects     Redirects
	Statuses      map[int]int64
	Failed        int64 // requests without an answer, other than timeouts
	Timeouts      int64
	Local         int64 // of Failed, those that are the fault of this machine
	PerSecond     float64
	Mean          time.Duration
	Resolution    time.Duration // by how much Mean may be off for having been rounded
	Quantiles     []float64     // percentages of those that were printed
	Size          float64       // bytes of an answer
	WithHead      bool          // Size counts the header
	ThreadRate    float64       // requests a second of one thread, in wrk's samples
	Dead          []string      // shares of the seconds, such as "1%", up to which nothing was answered
	Columns       []string      // of a table
}

// Redirects is what a tool makes of a redirect.
type Redirects int

// The ways of tools with redirects. The zero value is not known.
const (
	RedirectsBad      Redirects = iota + 1 // counted as no good answer
	RedirectsGood                          // counted as good
	RedirectsFollowed                      // the answer to where they lead is counted
)

// inFlight is how many requests are under way all the time in a closed loop; 0 when that is not known.
func (r *Run) inFlight() int { return r.Connections * max(1, r.Pipelined) }

// answered is how many answers came a second.
func (r *Run) answered() float64 {
	if r.Answers > 0 && r.Took > 0 {
		return float64(r.Answers) / r.Took.Seconds()
	}
	return r.PerSecond
}

// seconds makes a Duration of a number that somebody printed, and 0 of what is none.
func seconds(s float64) time.Duration {
	if !(s > 0) || s > 1e9 {
		return 0
	}
	return time.Duration(math.Round(s * 1e9))
}
