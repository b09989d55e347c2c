// Package stack starts the real programs that tests and benchmarks put the gateway in front of and compare it
// with: PHP-FPM, a resident PHP server, FrankenPHP and nginx, all around one Laravel application. Everything
// listens on loopback or on a unix socket, and ends with the test that started it.
//
// A program that is not installed is a failure, never a skipped test; testdata/install.sh installs them all.
package stack

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// T is what starting a program needs of its test: a *testing.T, *testing.B or *testing.F, or the T that Run makes.
type T interface {
	Helper()
	Logf(format string, args ...any)
	// Fatalf reports that the program could not be started and ends the calling goroutine.
	Fatalf(format string, args ...any)
	// Cleanup adds a function to those that run, last one first, when the test is over.
	Cleanup(func())
}

// Run calls fn with a T outside of any test and returns what fn returned, or 1 when it ended in Fatalf. What was
// started with that T has been stopped when Run returns. In TestMain, to share a pool among a package's tests:
//
//	os.Exit(stack.Run(func(t stack.T) int {
//		pool = stack.FPM(t, stack.FPMConfig{})
//		return m.Run()
//	}))
func Run(fn func(T) int) int {
	o := &outside{code: 1}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer o.finish() // also after the Goexit of Fatalf
		o.code = fn(o)
	}()
	<-done
	return o.code
}

// outside is the T of a program that is not a test.
type outside struct {
	code int

	mu       sync.Mutex // guards cleanups
	cleanups []func()
}

func (o *outside) Helper() {}

func (o *outside) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (o *outside) Fatalf(format string, args ...any) {
	o.Logf(format, args...)
	runtime.Goexit()
}

func (o *outside) Cleanup(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cleanups = append(o.cleanups, f)
}

func (o *outside) Failed() bool { return o.code != 0 }

func (o *outside) finish() {
	for {
		o.mu.Lock()
		last := len(o.cleanups) - 1
		if last < 0 {
			o.mu.Unlock()
			return
		}
		f := o.cleanups[last]
		o.cleanups = o.cleanups[:last]
		o.mu.Unlock()
		f()
	}
}

// failed says whether the test has failed so far; what a T cannot tell counts as passed.
func failed(t T) bool {
	f, ok := t.(interface{ Failed() bool })
	return ok && f.Failed()
}
