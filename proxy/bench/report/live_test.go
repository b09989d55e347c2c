package report

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

// screen is what a terminal shows of what it was sent: lines, and where the cursor is.
type screen struct {
	lines    []string
	row, col int
}

var control = regexp.MustCompile(`^\x1b\[(\d*)([AJK])`)

func (s *screen) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if m := control.FindStringSubmatch(text); m != nil {
			s.control(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		for len(s.lines) <= s.row {
			s.lines = append(s.lines, "")
		}
		c := []rune(text)[0]
		switch c {
		case '\n':
			s.row, s.col = s.row+1, 0
		case '\r':
			s.col = 0
		default:
			line := []rune(s.lines[s.row])
			line = append(line[:min(s.col, len(line)):len(line)], append([]rune{c}, line[min(s.col+1, len(line)):]...)...)
			s.lines[s.row] = string(line)
			s.col++
		}
		text = text[len(string(c)):]
	}
	return len(p), nil
}

func (s *screen) control(count, what string) {
	n, _ := strconv.Atoi(count)
	switch what {
	case "A":
		s.row = max(s.row-n, 0)
	case "K":
		if s.row < len(s.lines) {
			s.lines[s.row] = string([]rune(s.lines[s.row])[:min(s.col, len([]rune(s.lines[s.row])))])
		}
	case "J":
		s.control("", "K")
		s.lines = s.lines[:min(s.row+1, len(s.lines))]
	}
}

func (s *screen) String() string { return strings.TrimRight(strings.Join(s.lines, "\n"), "\n") }

// watched is a view whose clock the test turns.
func watched(out interface{ Write([]byte) (int, error) }, columns int) (l *Live, later func(time.Duration)) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l = NewLive(out, []string{"fpm", "octane"}, func() int { return columns })
	l.started = now
	l.now = func() time.Time { return now }
	return l, func(d time.Duration) { now = now.Add(d) }
}

func event(done int) bench.Event {
	return bench.Event{Phase: "blocks", Arm: done % 2, Done: done, All: 28, Progress: load.Progress{
		At: 4 * time.Second, InFlight: 12, Last: load.Second{Good: 480, P50: 2 * time.Millisecond, P99: 4 * time.Millisecond},
	}}
}

func TestBlockIsDrawnInPlace(t *testing.T) {
	s := new(screen)
	l, later := watched(s, 100)
	fmt.Fprintln(s, "$ gateway bench")
	for i := range 5 {
		later(time.Second)
		e := event(i)
		if i == 3 {
			b := valid().Blocks[1]
			e.Block = &b
		}
		l.Tell(e)
	}
	want := `$ gateway bench
blocks 4 of 28, 5s
  now fpm: 4s, 12 in flight, last second 480 good, 0 other, p50 2.00 ms, p99 4.00 ms
  fpm     no block yet
  octane  1 blocks, 100.00 % good, p50 `
	if got := s.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 4 {
		t.Errorf("screen:\n%s\nwant\n%s", got, want)
	}
	l.Close()
	fmt.Fprintln(s, "VALID")
	if got := s.String(); got != "$ gateway bench\nVALID" {
		t.Errorf("after the end:\n%s", got)
	}
	l.Tell(event(6))
	if got := s.String(); got != "$ gateway bench\nVALID" {
		t.Errorf("told after the end:\n%s", got)
	}
}

func TestLogAndBlockDoNotGarbleEachOther(t *testing.T) {
	s := new(screen)
	l, later := watched(s, 100)
	l.Tell(event(0))
	fmt.Fprintln(l, "warning: one")
	later(time.Second)
	l.Tell(event(1))
	fmt.Fprint(l, "warning: ")
	later(time.Second)
	l.Tell(event(2)) // not in the middle of a line
	fmt.Fprintln(l, "two")
	later(time.Second)
	l.Tell(event(3))
	got := s.String()
	if !strings.HasPrefix(got, "warning: one\nwarning: two\nblocks 3 of 28, 3s\n") || strings.Count(got, "blocks") != 1 {
		t.Errorf("screen:\n%s", got)
	}
}

func TestLinesAreCutToTheTerminal(t *testing.T) {
	s := new(screen)
	l, _ := watched(s, 30)
	l.Tell(event(0))
	for _, line := range s.lines {
		if n := len([]rune(line)); n >= 30 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestTerminalIsNotDrawnAllTheTime(t *testing.T) {
	var b bytes.Buffer
	l, later := watched(&b, 80)
	for range 100 {
		l.Tell(event(0))
		later(10 * time.Millisecond)
	}
	if n := strings.Count(b.String(), "blocks 0 of 28"); n != 5 {
		t.Errorf("drawn %d times in a second", n)
	}
}

func TestLinesWhereThereIsNoTerminal(t *testing.T) {
	var b bytes.Buffer
	l, later := watched(&b, 0)
	l.Tell(bench.Event{Phase: "learn", All: 3})
	for i := range 110 {
		l.Tell(event(i / 50))
		later(100 * time.Millisecond)
	}
	fmt.Fprintln(l, "warning: one")
	l.Close()
	want := `0s learn 0 of 3, fpm
0s blocks 0 of 28, fpm: 4s, 12 in flight, last second 480 good, 0 other, p50 2.00 ms, p99 4.00 ms
5s blocks 1 of 28, octane: 4s, 12 in flight, last second 480 good, 0 other, p50 2.00 ms, p99 4.00 ms
10s blocks 2 of 28, fpm: 4s, 12 in flight, last second 480 good, 0 other, p50 2.00 ms, p99 4.00 ms
warning: one
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestFileIsNoTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n := Width(file); n != 0 {
		t.Errorf("a file has %d columns", n)
	}
}
