package main

// The words of BENCHMARKS.md, before and after what was measured.

const pageHead = `# Benchmarks

The gateway beside the web servers whose place it takes, in front of the same backends. ` + "`make bench`" + ` measures and
writes this page anew; all samples are in testdata/var, as JSON. Figures are kept as they come, good or bad.

How it is measured:

- One peer at a time, alone on its core: one worker process of nginx, GOMAXPROCS=1 for what is written in Go. wrk and
  all backends share another core. Everything is on loopback; FastCGI goes over unix sockets.
- Rounds are interleaved: in each, every row is measured with every peer, in an order that is drawn anew. Before and
  after each measurement one answer is compared with what it should be.
- wrk sends what a browser sends (ten header lines, some 600 bytes of them cookies) over kept connections. It is a
  closed loop: it shows what a peer can take, and the latencies are those of a full peer, not of a visit.
- A figure is the median of the rounds, with the smallest and the largest in brackets. A ratio is taken within each
  round; its median and reach follow. A ratio whose reach includes 1.00 shows no difference.
- CPU/request is the user and system time of the peer and its workers over all answered requests. It says more than
  the rate where something else is the slowest part: "core in use" is then well below 100 %.
- Every peer writes one line of access log a request to a file, as nginx and the gateway do by default and Caddy when
  told to; the peers called quiet and transport write none.
- One answer that is not 2xx, or one socket error, and the peer has no figures in that row.

Configurations: testdata/peers/nginx.conf.tmpl with testdata/nginx/laravel.conf.tmpl (Laravel's page) and
testdata/nginx/octane.conf.tmpl (Octane's page), testdata/peers/Caddyfile.tmpl, testdata/peers/gateway.toml.tmpl,
testdata/fpm/php-fpm.conf.tmpl (a static pool with a child for each connection of wrk; a peer that keeps connections
has a pool of its own), testdata/resident/server.php (two workers). The kept peers keep as many idle connections as wrk
has connections. The backends of (a) and (e2) are in testdata/peers/responder.go.

`

const pageTail = `
## Not measured

- TLS, HTTP/2 and HTTP/3; clients on a network, slow clients, uploads, downloads, WebSockets.
- More than one core for a peer; memory; many idle connections.
- Latency below saturation, which needs an open loop.
- nginx newer than Debian's, and nginx built or tuned otherwise. nginx with buffered access logs.
- Octane itself (Swoole, RoadRunner): the resident backend is a plain PHP server that keeps Laravel in memory as
  Octane does.
`
