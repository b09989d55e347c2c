//go:build stack

package main_test

import (
	"net/http"
	"testing"
	"time"

	answers "gateway/proxy/bench/compare"
)

// TestBackendsOfOneApplicationCompareEqual asks PHP-FPM twice, and the resident backend, for pages of a real Laravel: with
// sessions, CSRF tokens and cookies. With what is built in, the same backend never differs from itself; where the two
// kinds of backend do, a path says so.
func TestBackendsOfOneApplicationCompareEqual(t *testing.T) {
	masks, err := answers.NewMasks(answers.MaskConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fpm := visit(t, startGateway(t, site(t)+fastcgiUpstream("app", fpmPool())))
	octane := visit(t, startGateway(t, site(t)+httpUpstream("app", resident())))
	for _, v := range []*visitor{fpm, octane} {
		v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	ask := func(v *visitor, path string) *answers.Answer {
		t.Helper()
		o := v.get(path)
		if o.err != nil {
			t.Fatal(o.err)
		}
		return &answers.Answer{Status: o.status, Header: o.header, Body: []byte(o.body), At: time.Now()}
	}
	for _, path := range []string{"/", "/benchmark", "/form", "/redirect", "/api/ping", "/api/users", "/api/users/1", "/api/users/0"} {
		live := ask(fpm, path)
		twin, shadow := masks.Compare(live, ask(fpm, path)), masks.Compare(live, ask(octane, path))
		if !twin.Equal() {
			t.Errorf("%s differs from itself: %+v", path, twin.Differences)
		}
		if !shadow.Equal() {
			t.Errorf("%s differs from the resident backend: %+v", path, shadow.Differences)
		}
		t.Logf("%s: masked %+v", path, shadow.Masked)
	}
}
