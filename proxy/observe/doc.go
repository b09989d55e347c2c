// Package observe keeps one record per request and turns it into an access line and into metrics.
//
// An Observer wraps the outermost handler. The layers inside find the record by FromContext and write
// what they know into it; when the handler has returned, however it returned, the line is logged and the
// metrics are moved. Label values come from the configuration, never from clients.
//
// Metrics:
//
//	name                             type       labels                      meaning
//	gateway_requests_total           counter    site, variant, code, method requests that ended; code is a class such as 2xx,
//	                                                                        or none when the connection was cut before any status
//	gateway_request_seconds          histogram  site, variant               from the head read to the answer written; upgraded connections apart
//	gateway_in_flight                gauge      -                           requests being served, upgraded connections included
//	gateway_upstream_attempts_total  counter    upstream, outcome           tries: answered, retried, failed, truncated, abandoned
//	gateway_upstream_queue_seconds   histogram  upstream                    wait for a place at a backend
//	gateway_upstream_queued          gauge      upstream                    requests waiting now
//	gateway_upstream_queue_limit     gauge      upstream                    how many may wait
//	gateway_backend_in_flight        gauge      upstream, backend           requests at the backend now
//	gateway_backend_in_flight_limit  gauge      upstream, backend           how many may be there; 0 means no cap
//	gateway_backend_up               gauge      upstream, backend           0 while ejected
//	gateway_spool_bytes              gauge      where                       bodies and responses that wait, in memory and on disk
//	gateway_spool_limit_bytes        gauge      where                       how many bytes may wait
//	gateway_spool_refused_total      counter    -                           bodies turned away, and responses whose backend had to wait
//
// Go's own runtime metrics (go_*) and those of the process (process_*) are there as well.
package observe
