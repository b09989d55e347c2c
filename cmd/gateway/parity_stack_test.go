//go:build stack

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// way is one kind of backend, with nginx in front of it and with the gateway in front of it.
type way struct {
	name    string
	nginx   string // host:port
	ours    string
	variant string // which ours are asked for, of a split
}

// parityWays puts nginx and a gateway in front of each kind of backend.
func parityWays(t *testing.T) []way {
	t.Helper()
	gateway := func(upstream string) string { return startGateway(t, site(t)+upstream).addr }
	host := func(url string) string { return strings.TrimPrefix(url, "http://") }
	return []way{
		{name: "fpm", nginx: host(nginxFront().LaravelURL), ours: gateway(fastcgiUpstream("app", fpmPool()))},
		{name: "resident", nginx: host(nginxFront().OctaneURL), ours: gateway(httpUpstream("app", resident()))},
		{name: "frankenphp", nginx: host(nginxFranks().OctaneURL), ours: gateway(httpUpstream("app", frankenphp()))},
	}
}

// parityCase is one thing that a client does, on each side alone.
type parityCase struct {
	name string
	ways string // the ways it is for, separated by spaces; empty means all
	run  func(c *client) []answer
}

func (p parityCase) isFor(way string) bool {
	return p.ways == "" || slices.Contains(strings.Fields(p.ways), way)
}

// one is the case of a single exchange.
func one(name string, exchange func(c *client) answer) parityCase {
	return parityCase{name: name, run: func(c *client) []answer { return []answer{exchange(c)} }}
}

// only makes a case one of some ways.
func (p parityCase) only(ways string) parityCase {
	p.ways = ways
	return p
}

// TestParity sends the same bytes through nginx, as Laravel's and Octane's pages set it up, and through the gateway to
// the same PHP. Every difference in the answers has to be in testdata/parity.toml, and everything there has to occur.
func TestParity(t *testing.T) {
	known := readTable(t, "testdata/parity.toml")
	cases := slices.Concat(routeCases, bodyCases, environmentCases, streamCases, targetCases, fileCases, failureCases)
	asked := make(map[string]bool)
	ran, all := 0, 0
	for _, way := range parityWays(t) {
		for _, c := range cases {
			if !c.isFor(way.name) {
				continue
			}
			all++
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				ran++
				runParity(t, way, c, known, func(request string) { asked[request] = true })
			})
		}
	}
	if ran < all {
		return // with -run, where neither table nor routes can be complete
	}
	for _, row := range known.stale() {
		t.Errorf("testdata/parity.toml allows what does not occur: %s", row)
	}
	for _, route := range applicationRoutes(t) {
		if !slices.ContainsFunc(sorted(asked), route.matches) {
			t.Errorf("no case asks for the route %s %s", route.Method, route.URI)
		}
	}
}

// runParity reports the differences in a case that the table does not allow. What may be due to a busy machine is
// looked at again.
func runParity(t *testing.T, way way, c parityCase, known *table, asked func(string)) {
	var left []difference
	for attempt := 1; attempt <= 3; attempt++ {
		left = known.unexplained(differences(t, way, c, asked))
		if !slices.ContainsFunc(left, isTiming) {
			break
		}
	}
	for _, d := range left {
		t.Errorf("not in testdata/parity.toml:\n%s", d)
	}
}

func differences(t *testing.T, way way, c parityCase, asked func(string)) (all []difference) {
	side := func(addr, variant string) []answer {
		return c.run(&client{t: t, addr: addr, resumed: way.name != "fpm", variant: variant,
			cookies: make(map[string]string), asked: asked})
	}
	nginx, ours := side(way.nginx, ""), side(way.ours, way.variant)
	if len(nginx) != len(ours) {
		t.Fatalf("%d answers from nginx, %d from the gateway", len(nginx), len(ours))
	}
	for i := range nginx {
		where := way.name + "/" + c.name
		if i > 0 {
			where = fmt.Sprintf("%s#%d", where, i+1)
		}
		all = append(all, compare(where, nginx[i], ours[i])...)
	}
	return all
}
