package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// sample is one peer on one row in one round.
type sample struct {
	Round int    `json:"round"`
	Row   string `json:"row"`
	Peer  string `json:"peer"`
	load
	CPU     time.Duration `json:"cpu_ns"`            // of the peer with its workers, in all
	Others  float64       `json:"other_cores"`       // cores that programs outside this run took meanwhile
	Stolen  float64       `json:"stolen_cores"`      // cores that the hypervisor gave to others
	Invalid string        `json:"invalid,omitempty"` // why these figures say nothing
}

// perRequest is the peer's CPU time for each request, in microseconds.
func (s sample) perRequest() float64 {
	return float64(s.CPU.Nanoseconds()) / 1e3 / float64(max(1, s.Requests))
}

// busy is the share of a core that the peer used.
func (s sample) busy() float64 { return s.CPU.Seconds() / max(s.Duration.Seconds(), 1e-9) }

// settled is how the peers are measured.
type settled struct {
	Rounds      int `json:"rounds"`
	Seconds     int `json:"seconds"`
	Connections int `json:"connections"`
}

const warmUp = 1 // seconds of load before each measurement, which count for nothing

// around is what a measurement takes besides its load: checks, and clients that start and end.
const around = 300 * time.Millisecond

// estimate is how long so many measurements take.
func (s settled) estimate(cells int) time.Duration {
	return time.Duration(cells) * (time.Duration(s.Seconds+warmUp)*time.Second + around)
}

// cell is one measurement that stands ahead.
type cell struct {
	round int
	row   row
	front *front
}

// plan lists what is measured, in order. A round goes row by row, so that the peers which are compared stand close
// together in time; their order is drawn anew each time, so that nobody always comes first.
func plan(rounds int, rows []row, fronts []*front, r *rand.Rand) []cell {
	var cells []cell
	for round := 1; round <= rounds; round++ {
		for _, row := range rows {
			first := len(cells)
			for _, f := range fronts {
				if f.measuredOn(row) {
					cells = append(cells, cell{round, row, f})
				}
			}
			these := cells[first:]
			r.Shuffle(len(these), func(i, j int) { these[i], these[j] = these[j], these[i] })
		}
	}
	return cells
}

// measureAll works through the plan and says how far it is.
func measureAll(words io.Writer, cells []cell, s settled) ([]sample, error) {
	var samples []sample
	start := time.Now()
	fmt.Fprintf(words, "%d measurements, about %s in all\n", len(cells), s.estimate(len(cells)).Round(time.Second))
	for i, c := range cells {
		left := s.estimate(len(cells))
		if i > 0 {
			left = time.Since(start) / time.Duration(i) * time.Duration(len(cells)-i)
		}
		fmt.Fprintf(words, "round %d of %d, %s left: %-2s %-13s ", c.round, s.Rounds, left.Round(time.Second), c.row.Key, c.front.Key)
		got, err := measure(c, s)
		if err != nil {
			fmt.Fprintln(words)
			return nil, fmt.Errorf("%s on row %s: %w", c.front.Key, c.row.Key, err)
		}
		fmt.Fprintf(words, "%8.0f/s  p50 %6.2f ms  p99 %6.2f ms  %6.1f us CPU  %3.0f%% of a core",
			got.PerSecond, ms(got.P50), ms(got.P99), got.perRequest(), 100*got.busy())
		if got.Invalid != "" {
			fmt.Fprintf(words, "  INVALID: %s", got.Invalid)
		}
		fmt.Fprintln(words)
		samples = append(samples, got)
	}
	return samples, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure asks once, loads the peer, and asks once more: wrk and h2load count answers but do not read them, and
// wrk takes a redirect for a good one.
func measure(c cell, s settled) (sample, error) {
	got := sample{Round: c.round, Row: c.row.Key, Peer: c.front.Key}
	if got.Invalid = c.check(); got.Invalid != "" {
		return got, nil
	}
	if _, _, err := runLoad(c.front, c.row, warmUp, s.Connections); err != nil {
		return got, err
	}
	before, err := look(c.front.pid)
	if err != nil {
		return got, err
	}
	load, client, err := runLoad(c.front, c.row, s.Seconds, s.Connections)
	if err != nil {
		return got, err
	}
	after, err := look(c.front.pid)
	if err != nil {
		return got, err
	}
	got.load, got.Invalid = load, load.Bad
	if err := got.account(before, after, client); err != nil {
		got.Invalid = err.Error()
	}
	if got.Invalid == "" {
		got.Invalid = c.check()
	}
	return got, c.front.forgetLogs()
}

// check returns what is wrong with an answer, or nothing.
func (c cell) check() string {
	body, err := c.front.get(c.row)
	if err != nil {
		return err.Error()
	}
	if body != c.row.want {
		return fmt.Sprintf("%s is answered with %.40q", c.row.Path, body)
	}
	return ""
}

// moment is what has been used up to then.
type moment struct {
	at      time.Time
	front   map[int]time.Duration
	all     map[int]time.Duration // this program and whatever it has started
	machine machine
}

func look(front int) (m moment, err error) {
	if m.front, err = treeTime(front); err != nil {
		return m, err
	}
	if m.all, err = treeTime(os.Getpid()); err != nil {
		return m, err
	}
	m.machine, err = readMachine()
	m.at = time.Now()
	return m, err
}

// account fills in what was used between two looks. The client has come and gone between them.
func (s *sample) account(before, after moment, client time.Duration) error {
	front, err := spent(before.front, after.front)
	if err != nil {
		return fmt.Errorf("the peer: %w", err)
	}
	all, err := spent(before.all, after.all)
	if err != nil {
		return err
	}
	wall := after.at.Sub(before.at)
	s.CPU = front
	s.Others = max(0, (after.machine.busy-before.machine.busy-all-client).Seconds()/wall.Seconds())
	s.Stolen = (after.machine.stolen - before.machine.stolen).Seconds() / wall.Seconds()
	return nil
}
