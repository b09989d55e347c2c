//go:build stack

package proxy

import (
	"fmt"
	"strings"
	"testing"

	"gateway/testdata/stack"
)

// TestNothingIsSmuggledToPHP sends every case to Laravel under PHP-FPM, resident, and under FrankenPHP: what PHP makes of
// the bytes that reach it is what counts in the end.
func TestNothingIsSmuggledToPHP(t *testing.T) {
	a := stack.App(t)
	cases := readWireCases(t)
	for name, site := range map[string]func(t *testing.T) string{
		"fpm": func(t *testing.T) string {
			pool := stack.FPM(t, stack.FPMConfig{})
			return fmt.Sprintf("[[site]]\nhosts = [\"*\"]\nroot = %q\napp = \"fpm\"\n[upstream.fpm]\nfastcgi = [%q]\nmax_in_flight = 4\n",
				a.Public, pool.Address())
		},
		"resident":   func(t *testing.T) string { return octaneSite(stack.Resident(t, 2).Addr, "") },
		"frankenphp": func(t *testing.T) string { return octaneSite(stack.FrankenPHP(t).Addr, "") },
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, impatient+site(t))
			seen := a.Record(t)
			answers := f.exchangeAll(cases)
			sorted := byCase(t, understood(seen()))
			for i, c := range cases {
				c.judgeSeen(t, answers[i], sorted[c.id])
				want := len(c.bodies)
				if c.status != "" && c.status != "closed" {
					want++
				}
				statuses := statusesOf(answers[i])
				if len(statuses) != want || want > len(c.bodies) && statuses[want-1] != c.status {
					t.Errorf("%s: answers %v, want %d, a refusal last: %q", c.name, statuses, want, c.status)
				}
			}
		})
	}
}

// understood says what PHP saw, and what of that no client may decide.
func understood(requests []stack.Seen) (seen []sighting) {
	for _, r := range requests {
		s := sighting{target: r.Target, length: r.Length}
		for name, value := range r.Variables {
			if strings.Contains(value, "6.6.6.6") || strings.Contains(value, "evil") {
				s.faults = append(s.faults, fmt.Sprintf("%s is %q", name, value))
			}
		}
		for _, name := range []string{"HTTP_PROXY", "HTTP_TE", "HTTP_TRAILER", "HTTP_TRANSFER_ENCODING", "HTTP_UPGRADE", "HTTP_FORWARDED"} {
			if value, ok := r.Variables[name]; ok {
				s.faults = append(s.faults, fmt.Sprintf("%s is %q", name, value))
			}
		}
		if length := r.Variables["CONTENT_LENGTH"]; length != fmt.Sprint(r.Length) && (length != "" || r.Length != 0) {
			s.faults = append(s.faults, fmt.Sprintf("CONTENT_LENGTH %q with %d bytes", length, r.Length))
		}
		seen = append(seen, s)
	}
	return seen
}
