//go:build stack

package main_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gateway/testdata/stack"
)

// downSite is the test application, whose storage is not beside its public folder.
func downSite(t *testing.T) string {
	t.Helper()
	return site(t) + fmt.Sprintf("maintenance = { artisan_file = %q }\n", filepath.Join(stack.App(t).Storage, "framework/down"))
}

// takeDown runs "artisan down" and brings the application up again with the test.
func takeDown(t *testing.T, args ...string) {
	t.Helper()
	app := stack.App(t)
	t.Cleanup(func() { app.Artisan(t, "up") })
	app.Artisan(t, append([]string{"down"}, args...)...)
}

// visitorTo asks whatever listens at addr.
func visitorTo(t *testing.T, addr string) *visitor {
	t.Helper()
	return visit(t, &process{addr: addr})
}

// told is what a client learns of an application that is down.
type told struct {
	status                                        int
	location, retry, refresh, contentType, cookie string
	body                                          string // of a page that was rendered
}

func tell(o outcome, rendered bool) told {
	at, _ := url.Parse("http://localhost/")
	location := o.header.Get("Location")
	if location != "" {
		if to, err := at.Parse(location); err == nil {
			location = strings.TrimSuffix(to.String(), "/")
		}
	}
	t := told{status: o.status, location: location, retry: o.header.Get("Retry-After"), refresh: o.header.Get("Refresh"),
		contentType: strings.ToLower(o.header.Get("Content-Type")), cookie: attributes(o.header.Get("Set-Cookie"))}
	if location != "" {
		t.contentType = "" // of a text for clients that do not follow
	}
	if rendered && location == "" {
		t.body = o.body
	}
	return t
}

// attributes are what a cookie has beside its value, but for times.
func attributes(cookie string) string {
	parts := strings.Split(strings.ToLower(cookie), "; ")
	name, _, _ := strings.Cut(parts[0], "=")
	kept := []string{name}
	for _, part := range parts[1:] {
		if !strings.HasPrefix(part, "expires=") {
			kept = append(kept, part)
		}
	}
	slices.Sort(kept[1:])
	return strings.Join(kept, "; ")
}

// TestMaintenanceIsAnsweredAsByLaravel takes the application down in every way that artisan has, and compares what
// Laravel says to nginx with what the gateway says without Laravel.
func TestMaintenanceIsAnsweredAsByLaravel(t *testing.T) {
	pool, app := fpmPool(), stack.App(t)
	ours := visitorTo(t, startGateway(t, downSite(t)+fastcgiUpstream("app", pool)).addr)
	laravel := visitorTo(t, strings.TrimPrefix(nginxFront().LaravelURL, "http://"))
	for _, v := range []*visitor{ours, laravel} {
		v.CheckRedirect = stay
	}
	for _, c := range []struct {
		name  string
		args  []string
		paths []string
	}{
		{"plain", nil, []string{"/", "/benchmark?a=b", "/nowhere"}},
		{"retry, refresh and status", []string{"--retry=60", "--refresh=15", "--status=500"}, []string{"/benchmark"}},
		{"secret", []string{"--secret=let-me-in"}, []string{"/benchmark", "/let-me-in", "/let-me-in/", "/let-me"}},
		{"redirect", []string{"--redirect=/form"}, []string{"/benchmark", "/form", "/form?a"}},
		{"redirect to the first page", []string{"--redirect=/"}, []string{"/benchmark", "/"}},
		{"rendered", []string{"--render=errors::503", "--retry=7", "--secret=let-me-in"}, []string{"/benchmark", "/let-me-in"}},
		{"rendered, with a redirect", []string{"--render=errors::503", "--redirect=/form"}, []string{"/benchmark", "/form"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			takeDown(t, c.args...)
			before := pool.Status(t).AcceptedConn
			for _, path := range c.paths {
				rendered := strings.HasPrefix(c.name, "rendered")
				got := tell(ours.get(withCount(path)), rendered)
				if n := app.Count("down"); n > 0 {
					t.Errorf("%s: PHP was asked", path)
				}
				if want := tell(laravel.get(path), rendered); got != want {
					t.Errorf("%s:\n   got %+v\nLaravel %+v", path, got, want)
				}
			}
			if after := pool.Status(t).AcceptedConn; after-before > len(c.paths) {
				t.Errorf("FPM took %d connections for the %d of nginx", after-before, len(c.paths))
			}
		})
	}
	if o := ours.get("/benchmark"); o.status != 200 {
		t.Errorf("up again: %s, want 200", o)
	}
}

func withCount(path string) string {
	if strings.Contains(path, "?") {
		return path + "&count=down"
	}
	return path + "?count=down"
}

// TestMaintenanceCanBePassed takes cookies from either side to the other: what Laravel gives is good here, and what
// is given here is good for Laravel.
func TestMaintenanceCanBePassed(t *testing.T) {
	for name, upstream := range map[string]string{
		"fpm": fastcgiUpstream("app", fpmPool()), "resident": httpUpstream("app", resident()),
	} {
		t.Run(name, func(t *testing.T) {
			ours := visitorTo(t, startGateway(t, downSite(t)+upstream).addr)
			laravel := visitorTo(t, strings.TrimPrefix(nginxFront().LaravelURL, "http://"))
			takeDown(t, "--secret=let-me-in")
			if o := ours.get("/api/ping"); o.status != 200 {
				t.Errorf("a path that is excepted: %s, want 200", o)
			}
			for from, v := range map[string]*visitor{"Laravel": laravel, "the gateway": ours} {
				v.CheckRedirect = stay
				cookie := v.get("/let-me-in").header.Get("Set-Cookie")
				pair, _, _ := strings.Cut(cookie, ";")
				for to, other := range map[string]*visitor{"Laravel": laravel, "the gateway": ours} {
					if o := other.with("/benchmark", "Cookie: "+pair); o.status != 200 {
						t.Errorf("cookie of %s for %s: %s, want 200", from, to, o)
					}
					if o := other.with("/benchmark", "Cookie: "+strings.Replace(pair, "=", "=e", 1)); o.status != 503 {
						t.Errorf("spoilt cookie of %s for %s: %s, want 503", from, to, o)
					}
				}
			}
		})
	}
}
