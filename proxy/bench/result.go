// Package bench answers whether one arm is faster than another for an application, by how much, and whether the run can be
// trusted: interleaved pairs of blocks, intervals, and rules that take the winner away when something is wrong.
package bench

import (
	"time"

	"gateway/proxy/bench/load"
	"gateway/proxy/bench/stat"
)

// Schema is the version of Result in JSON. A reader refuses a later one.
const Schema = 1

// Result is everything about a run. Every figure in it can be computed again from its blocks.
type Result struct {
	Schema   int               `json:"schema"`
	Version  string            `json:"version"` // of the gateway
	Command  []string          `json:"command,omitempty"`
	Started  time.Time         `json:"started"`
	Took     time.Duration     `json:"took_ns"`
	Seed     uint64            `json:"seed"`
	Partial  bool              `json:"partial,omitempty"` // it was ended before its time
	Machine  map[string]string `json:"machine,omitempty"`
	Settings Settings          `json:"settings"`
	Arms     []ArmFacts        `json:"arms"`
	Routes   []RouteFacts      `json:"routes"`
	Blocks   []Block           `json:"blocks"`
	Figures  []Figure          `json:"figures"`
	Findings []Finding         `json:"findings"`
	Verdict  Verdict           `json:"verdict"`
	Knee     *Knee             `json:"knee,omitempty"` // of a search for it, which has no blocks and no figures
}

// Settings is how the run was made.
type Settings struct {
	Rate       float64       `json:"rate,omitempty"` // requests a second; 0 in a closed loop
	Arrivals   string        `json:"arrivals,omitempty"`
	Closed     int           `json:"closed,omitempty"` // clients
	Block      time.Duration `json:"block_ns"`
	Discard    time.Duration `json:"discard_ns"` // of each block, at its start
	Gap        time.Duration `json:"gap_ns"`     // between blocks
	Pairs      int           `json:"pairs"`      // that were planned
	Confidence float64       `json:"confidence"`
	Cookies    string        `json:"cookies"`
	Users      int           `json:"users,omitempty"`
	Via        string        `json:"via,omitempty"`
	Processors int           `json:"processors"` // that the generator may use
}

// ArmFacts is one arm.
type ArmFacts struct {
	Name        string            `json:"name"`
	Kind        string            `json:"kind"` // fastcgi, http or url
	Address     string            `json:"address"`
	Workers     int               `json:"workers,omitempty"` // 0 is not known
	Fingerprint map[string]string `json:"fingerprint,omitempty"`
	Warmup      *Warmup           `json:"warmup,omitempty"`
}

// Warmup is how an arm came to its speed.
type Warmup struct {
	Took    time.Duration `json:"took_ns"`
	Settled bool          `json:"settled"` // false: it was still getting faster when the time was over
	Windows []Window      `json:"windows"`
}

// Window is a short stretch of a warm-up.
type Window struct {
	Good int64         `json:"good"`
	P50  time.Duration `json:"p50_ns"`
	P95  time.Duration `json:"p95_ns"`
}

// RouteFacts is one route and what was learnt of it before any speed was measured.
type RouteFacts struct {
	Name     string  `json:"name"`
	Method   string  `json:"method"`
	Target   string  `json:"target"`
	Weight   float64 `json:"weight"`
	Status   int     `json:"status"`         // that a good answer has
	SizeLow  int64   `json:"size_low"`       // bytes of the smallest and the largest
	SizeHigh int64   `json:"size_high"`      // good answer
	Left     string  `json:"left,omitempty"` // why the route is not in the speed run
}

// Block is one block of load on one arm.
type Block struct {
	Arm  int `json:"arm"`  // index in Arms
	Pair int `json:"pair"` // from 0 on
	// Position is 0 for the first block of its pair and 1 for the second.
	Position int `json:"position"`
	// Control says that both blocks of the pair are of this arm, to see whether the machine itself drifts.
	Control bool `json:"control,omitempty"`
	*load.Block
	Usage *Usage `json:"usage,omitempty"` // nil: nobody looked
}

// Usage is what an arm took during a block.
type Usage struct {
	CPU       time.Duration `json:"cpu_ns"` // user and system, of all its processes
	Memory    int64         `json:"memory"` // bytes of proportional set or cgroup, at the end
	Processes int           `json:"processes"`
	Restarts  int           `json:"restarts,omitempty"`
	OOMKills  int           `json:"oom_kills,omitempty"`
	// Source is "tree" for processes and "cgroup" for a cgroup of its own.
	Source string `json:"source"`
	// Stolen is the share of the machine's time that its host took, Pressure the share of time that some process waited for
	// a CPU; both in 0 to 1.
	Stolen   float64 `json:"stolen"`
	Pressure float64 `json:"pressure"`
}

// Figure is one headline number of both arms.
type Figure struct {
	// Name is p50, p95, p99, throughput, cpu_per_request or memory.
	Name string `json:"name"`
	Unit string `json:"unit"` // ns, 1/s or bytes
	// Of is the figure of each arm: the median over its blocks, the smallest and the largest.
	Of []Spread `json:"of"`
	// Compared is nil when there is one arm, or Empty says why nothing can be said.
	Compared *stat.Comparison `json:"compared,omitempty"`
	// PHolm is Compared.P, corrected for all figures of the run.
	PHolm float64 `json:"p_holm,omitempty"`
	Empty string  `json:"empty,omitempty"`
}

// Spread is the middle of a few values and how far they reach.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Finding is a rule that something in the run breaks.
type Finding struct {
	Rule string `json:"rule"`
	// Flag says that the run stays valid in spite of it.
	Flag bool   `json:"flag,omitempty"`
	Arm  int    `json:"arm"` // -1: not one alone
	Text string `json:"text"`
}

// The states of a verdict.
const (
	Valid        = "VALID"
	Invalid      = "INVALID"      // nothing may be concluded; there is no winner
	Inconclusive = "INCONCLUSIVE" // nothing is wrong, and nothing is shown
)

// Verdict is what the run shows.
type Verdict struct {
	State string `json:"state"`
	// Winner is the index of the arm that is faster by the p50, or takes more in a closed loop; -1 is none.
	Winner int    `json:"winner"`
	Text   string `json:"text"`
}
