package workload

import (
	"math/rand/v2"
	"sort"

	"gateway/proxy/bench/load"
)

// source draws routes and users, the same ones for one seed.
type source struct {
	requests [][]*load.Request // by route and user; made when they are first asked for
	workload *Workload
	sums     []float64 // of the weights, up to and with each route
	random   *rand.Rand
	at       int // in Order
}

// Source returns the requests of a block. Two with the same seed give the same ones in the same order.
func (w *Workload) Source(seed uint64) load.Source {
	s := &source{workload: w, random: rand.New(rand.NewPCG(seed, 0x726f75746573))}
	sum := 0.0
	for _, r := range w.Routes {
		sum += r.Weight
		s.sums = append(s.sums, sum)
	}
	s.requests = make([][]*load.Request, len(w.Routes))
	for i := range s.requests {
		s.requests[i] = make([]*load.Request, w.users())
	}
	if len(w.Order) > 0 {
		s.at = s.random.IntN(len(w.Order))
	}
	return s
}

func (w *Workload) users() int {
	if w.Cookies == UserCookies {
		return w.Users
	}
	return 1
}

// Next returns the next request.
func (s *source) Next() *load.Request {
	user := 0
	if n := s.workload.users(); n > 1 {
		user = s.random.IntN(n)
	}
	route := s.route()
	made := &s.requests[route][user]
	if *made == nil {
		who := user
		if s.workload.Cookies == NoCookies {
			who = -1
		}
		*made = s.workload.Routes[route].request(route, who)
	}
	return *made
}

func (s *source) route() int {
	if order := s.workload.Order; len(order) > 0 {
		route := order[s.at]
		s.at = (s.at + 1) % len(order)
		return route
	}
	drawn := s.random.Float64() * s.sums[len(s.sums)-1]
	return min(sort.SearchFloat64s(s.sums, drawn), len(s.sums)-1)
}

// Request returns the request of one route, as its first user sends it.
func (w *Workload) Request(route int) *load.Request {
	user := 0
	if w.Cookies == NoCookies {
		user = -1
	}
	return w.Routes[route].request(route, user)
}
