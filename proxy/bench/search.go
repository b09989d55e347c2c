package bench

import "math"

const (
	ladderFrom   = 0.2 // of what an arm took in a closed loop
	ladderBy     = 1.3
	bisectTo     = 1.05 // between the highest rate that passed and the lowest that failed
	confirmTimes = 3
	mostSteps    = 60  // of one arm
	mostRate     = 1e6 // beyond it nobody generates
)

// The phases of a search.
const (
	ladder  = "ladder"
	bisect  = "bisect"
	confirm = "confirm"
)

// search finds the highest rate that an arm takes. It climbs until a rate fails, halves the way between that and the one
// before, and tries what is left three times more. A rate that fails on the way is tried once more: were a moment in which
// something else went on taken for the arm's, all that follows would be below what it takes.
type search struct {
	phase     string
	rate      float64 // that is to be tried
	first     float64
	low, high float64 // the highest that passed and the lowest that failed; zero is none yet
	failed    int     // times in a row, at rate
	confirmed int
	steps     int
	done      bool
}

func newSearch(ceiling float64) *search {
	first := ladderFrom * ceiling
	return &search{phase: ladder, rate: first, first: first}
}

// found says whether the search came to an end with a rate that was confirmed.
func (s *search) found() bool { return s.confirmed == confirmTimes }

// note takes what came of the rate and chooses the next.
func (s *search) note(passed bool) {
	s.steps++
	if passed {
		s.failed = 0
		s.pass()
	} else if s.failed++; s.phase == confirm || s.failed == 2 {
		s.failed = 0
		s.fail()
	}
	s.done = s.done || s.steps == mostSteps || s.rate > mostRate
}

func (s *search) pass() {
	s.low = s.rate
	switch {
	case s.phase == confirm:
		s.confirmed++
		s.done = s.found()
	case s.high == 0:
		s.rate *= ladderBy
	default:
		s.halve()
	}
}

func (s *search) fail() {
	s.high = s.rate
	switch {
	case s.phase == confirm:
		s.confirmed = 0
		s.rate /= bisectTo
		s.done = s.rate < s.first/10
	case s.low > 0:
		s.halve()
	default:
		s.rate /= ladderBy * ladderBy // it fails from the first rate on
		s.done = s.rate < s.first/10
	}
}

// halve goes on between the rate that passed and the one that failed, as long as there is much between them.
func (s *search) halve() {
	if s.high/s.low <= bisectTo {
		s.phase, s.rate = confirm, s.low
		return
	}
	s.phase, s.rate = bisect, math.Sqrt(s.low*s.high)
}
