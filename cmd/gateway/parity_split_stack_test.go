//go:build stack

package main_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// variants are the three backends of splitGateway, by the name of their upstream, with their share in percent.
var variants = map[string]int{"fpm": 50, "resident": 30, "frankenphp": 20}

// splitGateway serves the application from all three kinds of backends at once.
func splitGateway(t *testing.T) string {
	t.Helper()
	text := strings.Replace(site(t), `"app"`, `"fpm"`, 1) + "split = { resident = 30, frankenphp = 20 }\n" +
		fastcgiUpstream("fpm", fpmPool()) + httpUpstream("resident", resident()) + httpUpstream("frankenphp", frankenphp())
	return startGateway(t, text).addr
}

func browser(t *testing.T, addr string) *client {
	return &client{t: t, addr: addr, cookies: make(map[string]string), asked: func(string) {}}
}

// on asks for a variant from now on, as quality assurance does.
func (c *client) on(variant string) *client {
	c.variant = variant
	return c
}

// servedBy asks the application what it runs on.
func (c *client) servedBy() string {
	c.t.Helper()
	a := c.get("/api/state")
	if a.status != 200 {
		c.t.Errorf("/api/state: %s", a.line)
	}
	return a.leaves["server"]
}

// A variant of a split answers as the site would that has it alone.
func TestSplitParity(t *testing.T) {
	known, split := readTable(t, "testdata/parity.toml"), splitGateway(t)
	for _, way := range parityWays(t) {
		way.ours, way.variant = split, way.name
		for _, c := range routeCases {
			if c.isFor(way.name) {
				t.Run(way.name+"/"+c.name, func(t *testing.T) { runParity(t, way, c, known, func(string) {}) })
			}
		}
	}
}

func TestSplitOverrideReachesEachBackend(t *testing.T) {
	addr := splitGateway(t)
	for variant := range variants {
		c := browser(t, addr).on(variant)
		if got := c.servedBy(); got != variant || len(c.cookies) != 0 {
			t.Errorf("asked for %s, served by %s; cookies %v", variant, got, c.cookies)
		}
		c.variant, c.cookies = "", map[string]string{"gateway_variant": variant}
		if got := c.servedBy(); got != variant {
			t.Errorf("cookie for %s, served by %s", variant, got)
		}
	}
}

// Six standard deviations of 200 users are at most 43.
func TestSplitSharesUsersAndKeepsThem(t *testing.T) {
	const users, slack = 200, 43
	addr := splitGateway(t)
	count := make(map[string]int)
	for i := range users {
		c := browser(t, addr)
		first := c.servedBy()
		count[first]++
		if c.cookies["gateway_split"] == "" {
			t.Fatal("a new user without a cookie")
		}
		if again := c.servedBy(); i%10 == 0 && again != first {
			t.Errorf("user %d was served by %s, then by %s", i, first, again)
		}
	}
	for variant, percent := range variants {
		if want := users * percent / 100; count[variant] < want-slack || count[variant] > want+slack {
			t.Errorf("%d of %d users on %s, want %d or so", count[variant], users, variant, want)
		}
	}
}

// Sessions, tokens and cookies are the application's, whichever backend runs it.
func TestSessionSurvivesTheMoveToAnotherVariant(t *testing.T) {
	c := browser(t, splitGateway(t))
	for visit, variant := range []string{"fpm", "resident", "frankenphp", "fpm"} {
		a := c.on(variant).get("/benchmark")
		if want := fmt.Sprintf(`id="visits">%d<`, visit+1); !strings.Contains(string(a.body), want) {
			t.Errorf("visit %d on %s: %s, and not %s in it", visit+1, variant, a.line, want)
		}
	}
	shown := c.on("fpm").get("/form")
	fields := url.Values{"_token": {shown.token}, "name": {"Ada"}}
	if sent := c.on("resident").do("POST", "/form", []byte(fields.Encode()), formType); sent.status != 302 {
		t.Errorf("a form of FPM sent to the resident server: %s", sent.line)
	}
	if a := c.on("frankenphp").get("/form"); !strings.Contains(string(a.body), "Thank you, Ada") {
		t.Errorf("no message on FrankenPHP: %s", a.line)
	}
}
