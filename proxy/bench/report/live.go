package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gateway/proxy/bench"
	"gateway/proxy/bench/load"
)

const (
	lineEvery   = 5 * time.Second        // where there is no terminal
	redrawEvery = 200 * time.Millisecond // on one
)

// Live shows a run while it goes on: on a terminal as a few lines that are drawn again in place, elsewhere as a line now and
// then. Whatever else is to be printed meanwhile, such as a log, goes through Write, so that neither garbles the other.
// Its methods may be called concurrently.
type Live struct {
	arms  []string
	width func() int       // columns of the terminal; 0 is none
	now   func() time.Time // nil means time.Now

	mu      sync.Mutex // guards what follows, and writing
	out     io.Writer
	started time.Time
	last    time.Time // when something was shown
	phase   string
	drawn   int  // lines of the block that stand on the terminal
	torn    bool // somebody wrote half a line
	closed  bool
	of      []liveArm
}

// liveArm is what is known of an arm so far.
type liveArm struct {
	blocks   int
	counts   load.Counts
	response *load.Histogram
}

// NewLive shows a run of these arms on out. width says how many columns the terminal has, 0 for what is none; nil means
// never a terminal.
func NewLive(out io.Writer, arms []string, width func() int) *Live {
	if width == nil {
		width = func() int { return 0 }
	}
	l := &Live{out: out, arms: arms, width: width, now: time.Now, of: make([]liveArm, len(arms))}
	for i := range l.of {
		l.of[i].response = load.NewHistogram()
	}
	l.started = l.now()
	return l
}

// Width returns how many columns a terminal has, and 0 for a file that is none.
func Width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// Tell takes what goes on. It is a bench.Config's Tell.
func (l *Live) Tell(e bench.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || e.Arm < 0 || e.Arm >= len(l.of) {
		return
	}
	if e.Block != nil {
		l.of[e.Arm].add(e.Block)
	}
	every := redrawEvery
	width := l.width()
	if width == 0 {
		every = lineEvery
	}
	now := l.now()
	if e.Phase == l.phase && now.Sub(l.last) < every {
		return
	}
	l.phase, l.last = e.Phase, now
	if width == 0 {
		io.WriteString(l.out, l.line(e, now)+"\n") // a view that cannot be written is missed by nobody
		return
	}
	l.draw(l.block(e, now), width)
}

func (a *liveArm) add(b *bench.Block) {
	a.blocks++
	a.counts.Issued += b.Issued
	a.counts.Good += b.Good
	a.response.Merge(b.Response)
}

// Write prints p above the block.
func (l *Live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.torn = len(p) > 0 && p[len(p)-1] != '\n'
	return l.out.Write(p)
}

// Close takes the block off the terminal, for what comes of the run to be printed in its place. What is told later is not
// shown.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.closed = true
}

func (l *Live) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.out, "\x1b[%dA\r\x1b[J", l.drawn)
		l.drawn = 0
	}
}

// draw puts lines where the last ones stood, in one write so that nothing flickers. They are cut, for a line that is
// broken would count as two.
func (l *Live) draw(lines []string, width int) {
	if l.torn {
		return
	}
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", l.drawn)
	}
	for _, line := range lines {
		if runes := []rune(line); len(runes) >= width {
			line = string(runes[:width-1])
		}
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	io.WriteString(l.out, b.String())
	l.drawn = len(lines)
}

// line is the view where there is no terminal.
func (l *Live) line(e bench.Event, now time.Time) string {
	return fmt.Sprintf("%s %s, %s%s", long(now.Sub(l.started).Truncate(time.Second)), l.where(e), l.arms[e.Arm], progress(e.Progress))
}

// block is the view on a terminal. It compares nothing: who looks at a ratio again and again sees a difference sooner or
// later, whether there is one or not.
func (l *Live) block(e bench.Event, now time.Time) []string {
	head := fmt.Sprintf("%s, %s", l.where(e), long(now.Sub(l.started).Truncate(time.Second)))
	lines := []string{head, fmt.Sprintf("  now %s%s", l.arms[e.Arm], progress(e.Progress))}
	widest := 0
	for _, name := range l.arms {
		widest = max(widest, len([]rune(name)))
	}
	for i, arm := range l.of {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", widest, l.arms[i], arm.String()))
	}
	return lines
}

func (l *Live) where(e bench.Event) string {
	if e.All == 0 {
		return e.Phase
	}
	return fmt.Sprintf("%s %d of %d", e.Phase, e.Done, e.All)
}

func progress(p load.Progress) string {
	if p.At == 0 {
		return ""
	}
	said := fmt.Sprintf(": %s, %d in flight", p.At.Truncate(time.Second), p.InFlight)
	if s := p.Last; s.Good+s.Other > 0 {
		said += fmt.Sprintf(", last second %d good, %d other, p50 %s, p99 %s", s.Good, s.Other, took(s.P50), took(s.P99))
	}
	return said
}

func (a liveArm) String() string {
	if a.counts.Issued == 0 {
		return "no block yet"
	}
	return fmt.Sprintf("%d blocks, %s good, p50 %s, p95 %s, p99 %s", a.blocks, percent(float64(a.counts.Good)/float64(a.counts.Issued)),
		took(a.response.Quantile(0.5)), took(a.response.Quantile(0.95)), took(a.response.Quantile(0.99)))
}
