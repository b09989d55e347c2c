package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gateway/proxy/bench/load"
)

const (
	learnRounds = 5
	learnPause  = 20 * time.Millisecond
	learnWait   = 30 * time.Second
	sizeSlack   = 0.25 // beyond the sizes that were seen: a name in a page may be longer
	sizeSpare   = 256
)

// learnt is what good answers look like, by route.
type learnt struct {
	routes []RouteFacts
}

// learn asks every arm for every route a few times, before anything is measured, and takes the first arm's answers for
// what is right. Routes that an arm answers otherwise are left out of the speed run, and said to be.
func (r *run) learn(ctx context.Context) error {
	r.judge = &learnt{}
	var kept []int
	for number := range r.Workload.Routes {
		facts, err := r.learnRoute(ctx, number)
		if err != nil {
			return err
		}
		r.result.Routes = append(r.result.Routes, facts)
		if facts.Left == "" {
			kept = append(kept, number)
		}
	}
	if len(kept) == 0 {
		return fmt.Errorf("no route can be measured: %s: %s", r.result.Routes[0].Name, r.result.Routes[0].Left)
	}
	r.leaveOut(kept)
	r.judge.routes = r.result.Routes
	return nil
}

// leaveOut keeps those routes alone in what is asked.
func (r *run) leaveOut(kept []int) {
	w := *r.Workload
	w.Order = slices.DeleteFunc(slices.Clone(w.Order), func(route int) bool { return !slices.Contains(kept, route) })
	w.Routes = slices.Clone(w.Routes)
	for number := range w.Routes {
		if !slices.Contains(kept, number) {
			w.Routes[number].Weight = 0
		}
	}
	r.Workload = &w
}

func (r *run) learnRoute(ctx context.Context, number int) (RouteFacts, error) {
	route := r.Workload.Routes[number]
	facts := RouteFacts{Name: route.Name, Method: route.Method, Target: route.Target, Weight: route.Weight}
	request := r.Workload.Request(number)
	for arm := range r.Arms {
		for range learnRounds {
			a := load.Answer{}
			one, cancel := context.WithTimeout(ctx, learnWait)
			err := r.visitors[arm].Send(one, request, &a)
			cancel()
			switch {
			case ctx.Err() != nil:
				return facts, context.Cause(ctx)
			case err != nil:
				return facts, fmt.Errorf("%s: %s: %w", r.Arms[arm].Name, route.Name, err)
			}
			facts.take(r.Arms[arm].Name, arm == 0, &a)
			pause(ctx, learnPause)
		}
		r.Tell(Event{Phase: "learn", Arm: arm, Done: number, All: len(r.Workload.Routes)})
	}
	facts.widen()
	return facts, nil
}

// take learns from one answer. right says that it is of the arm that is taken for right.
func (f *RouteFacts) take(arm string, right bool, a *load.Answer) {
	if f.Left != "" {
		return
	}
	fault := faultOf(a)
	switch {
	case fault != load.None:
		f.Left = fmt.Sprintf("%s answers %d (%s)", arm, a.Status, fault)
	case right && f.Status == 0:
		f.Status, f.SizeLow, f.SizeHigh = a.Status, a.Size, a.Size
	case a.Status != f.Status:
		f.Left = fmt.Sprintf("%s answers %d, where %d came before", arm, a.Status, f.Status)
	default:
		f.SizeLow, f.SizeHigh = min(f.SizeLow, a.Size), max(f.SizeHigh, a.Size)
	}
}

// widen allows for sizes that were not seen yet.
func (f *RouteFacts) widen() {
	slack := int64(sizeSlack*float64(f.SizeHigh)) + sizeSpare
	f.SizeLow, f.SizeHigh = max(f.SizeLow-slack, 0), f.SizeHigh+slack
}

// faultOf is what is wrong with an answer whatever the route.
func faultOf(a *load.Answer) load.Fault {
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		return load.Throttled
	case a.Status == 419:
		return load.Expired
	case a.Status >= 300 && a.Status < 400 && strings.Contains(strings.ToLower(a.Header.Get("Location")), "login"):
		return load.Login
	case a.Status >= 500:
		return load.Status
	}
	return load.None
}

// Judge says whether an answer is like those that were learnt.
func (l *learnt) Judge(r *load.Request, a *load.Answer) load.Fault {
	if fault := faultOf(a); fault != load.None {
		return fault
	}
	if r.Route >= len(l.routes) {
		return load.None
	}
	facts := &l.routes[r.Route]
	switch {
	case facts.Status != 0 && a.Status != facts.Status:
		return load.Status
	case facts.SizeHigh > 0 && (a.Size < facts.SizeLow || a.Size > facts.SizeHigh):
		return load.Size
	}
	return load.None
}
