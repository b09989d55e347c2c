// Package workload says what a bench asks for: routes that an operator names, or what real users asked, from access logs
// and from a browser's recording.
package workload

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gateway/proxy/bench/load"
)

// Route is one thing that is asked for.
type Route struct {
	// Name is what reports call it. Zero means its method and target.
	Name   string
	Method string // zero means GET
	Target string // in origin form
	Host   string // zero means the workload's
	Header http.Header
	Body   []byte
	// Weight is how often it is asked for beside the others. Zero means 1.
	Weight float64
}

// Cookies is who keeps the cookies that answers set.
type Cookies string

// The policies for cookies. Without any, an application that keeps sessions makes one for each request.
const (
	NoCookies     Cookies = "none"
	UserCookies   Cookies = "user"   // each virtual user has his own
	SharedCookies Cookies = "shared" // all are one user
)

// Workload is what a bench asks for.
type Workload struct {
	// Host is asked of the site. It stands in requests whose route names none.
	Host   string
	Routes []Route
	// Order is the routes in the order in which they were asked for, where that is known; else they are drawn by weight.
	Order   []int
	Cookies Cookies
	// Users is how many virtual users there are, for UserCookies. Zero means 50.
	Users int
	// Login is what each user does before anything else, in order.
	Login []Route
	// Skipped counts what a file had and is not in the workload, by reason.
	Skipped map[string]int
}

var (
	// ErrEmpty is a workload without a route.
	ErrEmpty = errors.New("the workload asks for nothing")
	errRoute = errors.New("not a route")
)

const usualUsers = 50

// Check fills in what was left out and says what is wrong.
func (w *Workload) Check() error {
	if len(w.Routes) == 0 {
		return fmt.Errorf("%w%s", ErrEmpty, w.why())
	}
	switch w.Cookies {
	case "":
		w.Cookies = NoCookies
	case NoCookies, UserCookies, SharedCookies:
	default:
		return fmt.Errorf("cookies: unknown %q; want none, user or shared", w.Cookies)
	}
	if w.Users == 0 {
		w.Users = usualUsers
	}
	if w.Cookies == NoCookies && len(w.Login) > 0 {
		return errors.New(`login: nobody keeps the cookies that it sets; want cookies = "user" or "shared"`)
	}
	for _, routes := range [][]Route{w.Routes, w.Login} {
		for i := range routes {
			if err := routes[i].check(w.Host); err != nil {
				return err
			}
		}
	}
	return nil
}

// Drop takes out the routes that are unfit, and counts them as skipped for that reason.
func (w *Workload) Drop(unfit func(Route) bool, reason string) {
	places := make([]int, len(w.Routes)) // of each in what is kept; -1 for none
	var kept []Route
	dropped := 0
	for i, r := range w.Routes {
		if places[i] = -1; unfit(r) {
			dropped++
			continue
		}
		places[i] = len(kept)
		kept = append(kept, r)
	}
	if dropped == 0 {
		return
	}
	var order []int
	for _, route := range w.Order {
		if places[route] >= 0 {
			order = append(order, places[route])
		}
	}
	w.Routes, w.Order = kept, order
	if w.Skipped == nil {
		w.Skipped = map[string]int{}
	}
	w.Skipped[reason] += dropped
}

// why tells what a file had instead of routes.
func (w *Workload) why() string {
	var reasons []string
	for reason, n := range w.Skipped {
		reasons = append(reasons, fmt.Sprintf("%d %s", n, reason))
	}
	if len(reasons) == 0 {
		return ""
	}
	slices.Sort(reasons)
	return ": " + strings.Join(reasons, ", ")
}

func (r *Route) check(host string) error {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if r.Host == "" {
		r.Host = host
	}
	if r.Weight == 0 {
		r.Weight = 1
	}
	if r.Name == "" {
		r.Name = r.Method + " " + r.Target
	}
	switch {
	case !isToken(r.Method):
		return fmt.Errorf("%w: method %q", errRoute, r.Method)
	case !strings.HasPrefix(r.Target, "/") || strings.ContainsFunc(r.Target, unfit):
		return fmt.Errorf("%w: %s %q: want a path such as /api/users?page=2", errRoute, r.Method, r.Target)
	case r.Host == "" || strings.ContainsFunc(r.Host, unfit) || strings.Contains(r.Host, "/"):
		return fmt.Errorf("%w: %s: host %q", errRoute, r.Name, r.Host)
	case !(r.Weight > 0) || r.Weight > 1e9:
		return fmt.Errorf("%w: %s: weight %g", errRoute, r.Name, r.Weight)
	}
	return nil
}

func unfit(c rune) bool { return c <= ' ' || c == 0x7f }

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '-')
	})
}

// IsSafe says whether a request changes nothing by its method alone (RFC 9110, 9.2.1).
func IsSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// request is what the load engine sends for a route.
func (r *Route) request(number, user int) *load.Request {
	return &load.Request{
		Route: number, Method: r.Method, Target: r.Target, Host: r.Host, Header: r.Header, Body: r.Body, User: user,
	}
}
