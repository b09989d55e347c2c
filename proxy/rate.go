package proxy

import (
	"fmt"
	"net/http"
	"time"

	"gateway/conf"
	"gateway/proxy/identity"
	"gateway/proxy/limit"
)

// rateName is one rate of one site. What was counted for it goes on after a reload that leaves it as it is.
type rateName struct {
	site string
	at   int
	conf.Rate
}

// rate is a limit and what it is counted for.
type rate struct {
	*limit.Rate
	key   conf.RateKey
	label string
}

func (b *builder) rates(cfg conf.Site) []rate {
	var all []rate
	for i, one := range cfg.Rates {
		name := rateName{cfg.Hosts[0], i, one}
		var counted *limit.Rate
		if b.old != nil {
			counted = b.old.rates[name]
		}
		if counted == nil {
			counted = limit.NewRate(limit.RateConfig{Count: one.Rate.Count, Per: one.Rate.Per, Burst: one.Burst, Delay: one.Delay})
		}
		b.state.rates[name] = counted
		all = append(all, rate{counted, one.Key, fmt.Sprintf("rate %d of the site", i+1)})
	}
	return all
}

// take counts r.
func (l rate) take(r *http.Request) (time.Duration, bool) {
	switch {
	case l.key.From == "site":
		return l.Take("")
	case l.key.From == "header" && len(r.Header[l.key.Name]) > 0:
		return l.Take(r.Header[l.key.Name][0])
	}
	return l.TakeAddress(identity.IP(r)) // also without the header, or leaving it out would be the way round
}

// limitRates holds a request back until every rate allows it, or refuses it. One that a later rate refuses has been
// counted by those before: to give it back would let a client try for free.
func limitRates(rates []rate) layer {
	return func(next http.Handler) http.Handler {
		if len(rates) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			longest := time.Duration(0)
			for _, rate := range rates {
				wait, ok := rate.take(r)
				if !ok {
					fail(w, r, &tooManyError{rate.label, wait})
					return
				}
				longest = max(longest, wait)
			}
			if err := holdBack(r, longest); err != nil {
				fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// holdBack waits, unless the client leaves.
func holdBack(r *http.Request, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}
