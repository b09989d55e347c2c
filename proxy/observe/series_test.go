package observe

import (
	"net/http"
	"sync"
	"testing"
)

// The first requests of a kind come at once, and each finds or makes the same series.
func TestFirstRequestsAtOnceAreAllCounted(t *testing.T) {
	const clients, each = 8, 50
	o := newObserver(t, Config{})
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for i := range each {
				record(t, o, "GET", func(w http.ResponseWriter, rec *Record) {
					rec.Site, rec.Upstream, rec.Attempts = "shop", "fpm", 1
					w.WriteHeader(200 + 100*(i%3))
				})
			}
		})
	}
	wg.Wait()
	wantSeries(t, scrape(t, o),
		`gateway_requests_total{code="2xx",method="GET",site="shop",variant=""} 136`,
		`gateway_requests_total{code="3xx",method="GET",site="shop",variant=""} 136`,
		`gateway_requests_total{code="4xx",method="GET",site="shop",variant=""} 128`,
		`gateway_request_seconds_count{site="shop",variant=""} 400`,
		`gateway_upstream_attempts_total{outcome="answered",upstream="fpm"} 400`,
		`gateway_upstream_queue_seconds_count{upstream="fpm"} 400`,
	)
}
