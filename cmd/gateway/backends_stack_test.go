//go:build stack

package main_test

import (
	"fmt"
	"sync"

	"gateway/testdata/stack"
)

// The backends that tests of this package share, unless they are to break them.
var (
	fpmPool    = sync.OnceValue(func() *stack.Pool { return stack.FPM(shared, stack.FPMConfig{}) })
	resident   = sync.OnceValue(func() *stack.Backend { return stack.Resident(shared, 2) })
	frankenphp = sync.OnceValue(func() *stack.Backend { return stack.FrankenPHP(shared) })
)

// site is the configuration of the test application on the upstream called app. What follows belongs to the site.
func site(t stack.T) string {
	t.Helper()
	return fmt.Sprintf("[[site]]\nhosts = [\"localhost\"]\nroot = %q\napp = \"app\"\n", stack.App(t).Public)
}

// fastcgiUpstream and httpUpstream are an upstream of one backend. What follows belongs to it.
func fastcgiUpstream(name string, pool *stack.Pool) string {
	return fmt.Sprintf("[upstream.%s]\nfastcgi = [%q]\nmax_in_flight = 4\n", name, pool.Address())
}

func httpUpstream(name string, backend *stack.Backend) string {
	return fmt.Sprintf("[upstream.%s]\nhttp = [%q]\n", name, backend.Addr)
}
