//go:build linux

package meter

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// listening starts a child that takes connections, and finds it.
func listening(t *testing.T, extra ...*os.File) (*child, *Tree) {
	t.Helper()
	c := newChild(t, "backend", extra...)
	tree, err := FindByAddress("tcp", c.tell("listen tcp 127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Pid() != c.pid() || tree.Kind != KindProcess {
		t.Fatalf("found %s %d, want process %d", tree.Kind, tree.Pid(), c.pid())
	}
	return c, tree
}

func TestTimeOfAllProcessesCounts(t *testing.T) {
	for name, c := range map[string]struct {
		order string
		want  time.Duration
	}{
		"its own":                    {"burn 70ms", 70 * time.Millisecond},
		"of a child":                 {"spawn burn 150ms", 150 * time.Millisecond},
		"of a child that has ended":  {"run burn 150ms", 150 * time.Millisecond},
		"of a grandchild that ended": {"run run burn 150ms", 150 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			child, tree := listening(t)
			before := read(t, tree)
			child.tell("%s", c.order)
			// A program of Go takes some to start, and much of it with the race detector.
			if d := read(t, tree).Since(before); d.CPU < c.want-10*time.Millisecond || d.CPU > c.want+400*time.Millisecond {
				t.Errorf("CPU = %v, want %v and a little", d.CPU, c.want)
			}
		})
	}
}

// A process that ends while the tree is looked at must neither be missing nor count twice.
func TestSumNeverFallsWhileProcessesEnd(t *testing.T) {
	child, tree := listening(t)
	ctx, cancel := context.WithCancel(t.Context())
	sums := make(chan []time.Duration)
	go func() {
		var all []time.Duration
		for ctx.Err() == nil {
			u, err := tree.ReadCPU()
			if err != nil {
				t.Error(err)
				break
			}
			all = append(all, u.CPU)
		}
		sums <- all
	}()
	for range 6 {
		child.tell("run burn 50ms")
	}
	cancel()
	// What a process has reaped is cut off at hundredths of a second, user and system time by itself.
	const cut = 2 * tick
	all := <-sums
	for i, sum := range all {
		if most := slices.Max(all[:i+1]); sum < most-cut {
			t.Fatalf("reading %d of %d: CPU fell from %v to %v", i, len(all), most, sum)
		}
	}
	if len(all) < 10 {
		t.Errorf("%d readings", len(all))
	}
}

func TestClockIsFinerThanTicks(t *testing.T) {
	child, tree := listening(t)
	before := read(t, tree)
	child.tell("burn 1ms")
	if d := read(t, tree).Since(before); d.CPU < time.Millisecond || d.CPU%tick == 0 {
		t.Errorf("CPU = %v, want 1 ms and some nanoseconds", d.CPU)
	}
}

func TestMemoryIsThatOfTheTree(t *testing.T) {
	child, tree := listening(t)
	grown := func(order string) float64 {
		before := read(t, tree).PSSAnon
		child.tell("%s", order)
		return float64(read(t, tree).PSSAnon-before) / (64 << 20)
	}
	before := read(t, tree)
	if own := grown("hold 64"); own < 0.99 || own > 1.1 {
		t.Errorf("%.2f times what the process took", own)
	}
	none := grown("spawn burn 0s")
	if childs := grown("spawn hold 64") - none; childs < 0.95 || childs > 1.1 {
		t.Errorf("%.2f times what a child took", childs)
	}
	after := read(t, tree)
	if d := after.Since(before); d.Peak != after.PSS || d.Took <= 0 {
		t.Errorf("peak = %d after %v, want %d", d.Peak, d.Took, after.PSS)
	}
}

// Pool memory of 400 % of the machine's is what comes of counting a shared segment once for each process.
func TestSharedMemoryCountsOnce(t *testing.T) {
	fd, err := unix.MemfdCreate("shared", 0)
	if err != nil {
		t.Fatal(err)
	}
	shared := os.NewFile(uintptr(fd), "shared")
	defer shared.Close()
	const size = 32
	if err := shared.Truncate(size << 20); err != nil {
		t.Fatal(err)
	}
	child, tree := listening(t, shared)
	for range 5 {
		child.tell("spawn share %d", size)
	}
	u := read(t, tree)
	if off := math.Abs(float64(u.PSSShmem)/(size<<20) - 1); off > 0.05 || u.RSS < 5*size<<20 {
		t.Errorf("shared memory = %d, %.0f %% off; RSS %d", u.PSSShmem, 100*off, u.RSS)
	}
}

func TestWorkersThatAreReplacedAreSeen(t *testing.T) {
	_, tree := listening(t)
	worker := func(pid int) identity { return identity{pid, 7} }
	before, now := read(t, tree), read(t, tree)
	before.seen.workers = []identity{worker(1), worker(2), worker(3)}
	now.seen.workers = []identity{worker(2), worker(4), {3, 8}, worker(5)}
	if d := now.Since(before); d.Started != 3 || d.Ended != 2 || d.Restarts != 2 {
		t.Errorf("%d started, %d ended, %d restarts; want 3, 2, 2", d.Started, d.Ended, d.Restarts)
	}
}

func TestMachineIsBusyWithIt(t *testing.T) {
	child := newChild(t, "busy")
	before, err := ReadMachine()
	if err != nil {
		t.Fatal(err)
	}
	child.tell("burn 150ms")
	after, err := ReadMachine()
	if err != nil {
		t.Fatal(err)
	}
	if m := after.Since(before); m.Busy+m.Stolen < 100*time.Millisecond || m.Took < 150*time.Millisecond {
		t.Errorf("busy for %v of %v, want 150 ms and more", m.Busy, m.Took)
	}
}

func TestTreeThatHasEnded(t *testing.T) {
	child, tree := listening(t)
	child.cmd.Process.Kill()
	child.cmd.Wait()
	if _, err := tree.Read(); !errors.Is(err, ErrGone) {
		t.Errorf("error = %v, want ErrGone", err)
	}
	other := *tree
	other.roots = slices.Clone(tree.roots)
	other.roots[0].pid = os.Getpid() // as if its number had been given to us
	if _, err := other.Read(); !errors.Is(err, ErrGone) {
		t.Errorf("error with another process = %v, want ErrGone", err)
	}
}

func TestWatchReadsUntilTheEnd(t *testing.T) {
	_, tree := listening(t)
	ctx, cancel := context.WithCancel(t.Context())
	var seen []Usage
	err := tree.Watch(ctx, time.Millisecond, func(u Usage) {
		if seen = append(seen, u); len(seen) == 3 {
			cancel()
		}
	})
	if err != nil || len(seen) < 3 || seen[2].PSS == 0 {
		t.Errorf("%d readings, %v; want 3", len(seen), err)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	database, tree := listening(t)
	_, port, err := net.SplitHostPort(tree.Address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	client, clients := listening(t)
	for range 3 {
		client.tell("dial tcp %s", tree.Address)
	}
	path := t.TempDir() + "/db.sock"
	database.tell("listen unix %s", path)
	client.tell("dial unix %s", path)
	if got, err := clients.ConnectionsTo(uint16(n)); err != nil || got != 3 {
		t.Errorf("connections of the client = %d, %v; want 3", got, err)
	}
	await(t, tree, func(Usage) bool {
		got, err := tree.Connections()
		return err == nil && got == 4
	})
	if got, err := tree.ConnectionsTo(uint16(n)); err != nil || got != 0 {
		t.Errorf("connections of the database to itself = %d, %v; want 0", got, err)
	}
}

func TestLeak(t *testing.T) {
	var track Track
	if _, ok := track.Leak(0.95); ok {
		t.Error("a trend of nothing")
	}
	for i := range int64(10) {
		track.Add(i*500, 100<<20+i*1<<20+i%2<<10)
		track.Add(i*500, 500<<20) // no request between
	}
	trend, ok := track.Leak(0.95)
	if slope := trend.Slope.Estimate / (1 << 20); !ok || slope < 1.99 || slope > 2.01 || trend.P > 0.001 {
		t.Errorf("slope = %+v, %v; want 2 MiB for each 1,000 requests", trend, ok)
	}
	if track.Peak() != 500<<20 {
		t.Errorf("peak = %d", track.Peak())
	}
}
