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

// nginx in front of them, with room for long headers, without which Laravel's page answers them with 502.
var (
	nginxFront = sync.OnceValue(func() *stack.NginxServer {
		return stack.Nginx(shared, stack.NginxConfig{FPM: fpmPool().Address(), Octane: resident().Addr, HeaderKiB: 32})
	})
	nginxFranks = sync.OnceValue(func() *stack.NginxServer {
		return stack.Nginx(shared, stack.NginxConfig{Octane: frankenphp().Addr, HeaderKiB: 32})
	})
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
