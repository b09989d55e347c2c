package load

import (
	"runtime/metrics"
	"syscall"
	"time"
)

// use is what the process, that is the generator, takes while a block goes on.
type use struct {
	used   func() time.Duration
	cpu    time.Duration
	pauses *metrics.Float64Histogram
}

const gcPauses = "/sched/pauses/total/gc:seconds"

func beginUse(cpu func() time.Duration) use { return use{cpu, cpu(), pauses()} }

// end returns the CPU time since, and the pause of the collector that 1 in 100 exceeded.
func (u use) end() (cpu, pause time.Duration) {
	after := pauses()
	var all uint64
	for i := range after.Counts {
		after.Counts[i] -= u.pauses.Counts[i]
		all += after.Counts[i]
	}
	beyond := all / 100
	for i := len(after.Counts) - 1; i >= 0 && all > 0; i-- {
		if after.Counts[i] > beyond {
			pause = time.Duration(after.Buckets[i] * float64(time.Second))
			break
		}
		beyond -= after.Counts[i]
	}
	return u.used() - u.cpu, max(pause, 0)
}

func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: gcPauses}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}

func processCPU() time.Duration {
	var r syscall.Rusage
	// It fails for a bad argument only.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
