package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/workload"
)

// Config is a bench.
type Config struct {
	// Arms are one or two. With two, the second is compared with the first.
	Arms     []Arm
	Workload *workload.Workload
	// Rate is how many requests a second each arm gets. Zero, with Closed zero, means half of what the slower arm took in
	// the probe.
	Rate     float64
	Arrivals load.Arrivals
	// Closed is the number of clients of a closed loop.
	Closed int
	// Block is how long one block lasts, Discard how much of it at the start does not count, Gap how long nothing is asked
	// between two. Zero means 10 s, and for the others a fifth of Block, at most 2 s.
	Block, Discard, Gap time.Duration
	// Deadline is when an answer is no longer waited for, Drain how long answers are waited for after a block. Zero means
	// 30 s and 5 s.
	Deadline, Drain time.Duration
	// Pairs is how many pairs are measured. Zero means UsualPairs.
	Pairs int
	// Warmup is the longest that an arm is warmed up for. Zero means 2 minutes.
	Warmup time.Duration
	// Seed draws orders, arrivals and requests. Zero means one that is made of the time.
	Seed uint64
	// Confidence is that of all intervals. Zero means 0.95.
	Confidence float64
	// Tell is called with what goes on, from one goroutine. Nil means nobody is told.
	Tell func(Event)
	// Version, Command, Via and Machine go into the result as they are.
	Version string
	Command []string
	Via     string
	Machine map[string]string

	sleep func(time.Duration)  // as in load.Plan
	cpu   func() time.Duration // as in load.Plan
}

// Arm is one side of a bench.
type Arm struct {
	Name string
	ArmFacts
	// Load sends requests to the arm.
	Load load.Arm
	// Look says what the arm has used so far, in all. Nil means that nobody can tell.
	Look func(ctx context.Context) (Usage, error)
}

// Event is something to tell whoever watches.
type Event struct {
	// Phase is "learn", "warm-up", "probe", "blocks" or "knee".
	Phase string
	Arm   int
	// Done of All turns are over. A search for the knee does not know how many there will be: All is 0.
	Done, All int
	// Progress is that of the block under way.
	Progress load.Progress
	// Block is one that has just ended, else nil.
	Block *Block
}

var errConfig = errors.New("not a bench")

func (c Config) withDefaults(now time.Time) (Config, error) {
	switch {
	case len(c.Arms) < 1 || len(c.Arms) > 2:
		return c, fmt.Errorf("%w: %d arms; want one or two", errConfig, len(c.Arms))
	case c.Rate > 0 && c.Closed > 0:
		return c, fmt.Errorf("%w: a rate and a closed loop", errConfig)
	case c.Pairs != 0 && len(c.Arms) == 2 && (c.Pairs < FewestPairs || c.Pairs > MostPairs):
		return c, fmt.Errorf("%w: %d pairs; want %d to %d", errConfig, c.Pairs, FewestPairs, MostPairs)
	}
	c.Block = cmp.Or(c.Block, 10*time.Second)
	c.Discard = cmp.Or(c.Discard, min(c.Block/5, 2*time.Second))
	c.Gap = cmp.Or(c.Gap, min(c.Block/5, 2*time.Second))
	c.Warmup = cmp.Or(c.Warmup, 2*time.Minute)
	if c.Discard >= c.Block {
		return c, fmt.Errorf("%w: of blocks of %s, %s do not count", errConfig, c.Block, c.Discard)
	}
	if c.Pairs == 0 {
		c.Pairs = UsualPairs
	}
	if c.Seed == 0 {
		c.Seed = uint64(now.UnixNano())
	}
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	if c.Tell == nil {
		c.Tell = func(Event) {}
	}
	return c, c.Workload.Check()
}

// Takes is how long the bench will take, at least and at most. Zero fields of c stand for their defaults.
func (c Config) Takes() (least, most time.Duration) {
	c, _ = c.withDefaults(time.Now()) // what is wrong with it, Run says
	arms := time.Duration(len(c.Arms))
	turns := time.Duration(len(arrange(len(c.Arms), c.Pairs, c.Seed)))
	fixed := turns*(c.Block+c.Gap) + arms*time.Duration(len(c.Workload.Routes))*learnRounds*learnPause
	if c.Rate == 0 && c.Closed == 0 {
		fixed += arms * min(probeFor, c.Block)
	}
	return fixed + arms*min(warmWindows*c.window(), c.Warmup), fixed + arms*c.Warmup
}

func (c Config) settings() Settings {
	s := Settings{
		Rate: c.Rate, Closed: c.Closed, Block: c.Block, Discard: c.Discard, Gap: c.Gap, Pairs: c.Pairs,
		Confidence: c.Confidence, Cookies: string(c.Workload.Cookies), Via: c.Via, Processors: runtime.GOMAXPROCS(0),
	}
	if c.Closed == 0 {
		s.Arrivals = c.Arrivals.String()
	}
	if c.Workload.Cookies == workload.UserCookies {
		s.Users = c.Workload.Users
	}
	return s
}
