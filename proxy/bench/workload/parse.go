package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRoute reads a route as it stands on a command line: "/", "POST /login", "3*GET /api/users".
func ParseRoute(text string) (Route, error) {
	r := Route{Weight: 1}
	rest := strings.TrimSpace(text)
	if number, after, ok := strings.Cut(rest, "*"); ok && !strings.Contains(number, "/") {
		weight, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return r, fmt.Errorf("%w: %q: weight %q; want such as 3*GET /api/users", errRoute, text, number)
		}
		r.Weight, rest = weight, strings.TrimSpace(after)
	}
	if method, target, ok := strings.Cut(rest, " "); ok {
		r.Method, r.Target = strings.ToUpper(method), strings.TrimSpace(target)
	} else {
		r.Target = rest
	}
	if err := r.check("example"); err != nil {
		return r, err
	}
	r.Host = ""
	return r, nil
}
