package main

// The words of BENCHMARKS.md, before and after what was measured.

const pageHead = `# Benchmarks

The gateway beside the web servers whose place it takes, in front of the same backends. ` + "`make bench`" + ` measures and
writes this page anew; all samples are in testdata/var, as JSON. Figures are kept as they come, good or bad.

How it is measured:

- One peer at a time, alone on its core: one worker process of nginx, GOMAXPROCS=1 for what is written in Go. Clients
  and all backends share another core. Everything is on loopback; FastCGI goes over unix sockets.
- Rounds are interleaved: in each, every row is measured with every peer, in an order that is drawn anew. Before and
  after each measurement one answer is compared with what it should be.
- Clients send what a browser sends (ten header lines, some 600 bytes of them cookies). They are closed loops: they show
  what a peer can take, and the latencies are those of a full peer, not of a visit.
- Rows (a) to (e2) are plain HTTP/1.1 over kept connections, from wrk. (g) to (h2) are TLS over kept connections, from
  h2load: in HTTP/1.1 with one request at a time on each, in HTTP/2 with four on a quarter as many, so that as many
  are under way. The host asked for is also the name in the handshake. h2load prints no quantiles; they are taken from
  its log of all requests.
- In (f) and (f2) each request has a connection of its own and ends with it, so requests/s are handshakes/s and
  CPU/request includes TCP, the request and its line of log. The time is that from the first packet to the last byte of
  the answer. The client is written in Go and part of the benchmark: full handshakes bring no ticket; resumed ones bring
  the ticket of the visit before, with a new key exchange as TLS 1.3 has it (psk_dhe_ke). One that was not of its kind
  counts as an error. The client may well be the slower part: look at CPU/request rather than at the rate.
- All peers show the same certificate, ECDSA over P-256. The checks before and after verify it; h2load does not, and the
  client of (f) and (f2) compares its bytes and verifies the signature of the handshake. The clients offer X25519 and no
  post-quantum group, which OpenSSL 3.0 has not. A row in which peers negotiate different versions, ciphers or groups
  has no figures.
- For TLS each peer is a process of its own, configured as the plain one but for the listener. HTTP/3 is off.
- A figure is the median of the rounds, with the smallest and the largest in brackets. A ratio is taken within each
  round; its median and reach follow. A ratio whose reach includes 1.00 shows no difference.
- CPU/request is the user and system time of the peer and its workers over all answered requests. It says more than
  the rate where something else is the slowest part: "core in use" is then well below 100 %.
- Every peer writes one line of access log a request to a file, as nginx and the gateway do by default and Caddy when
  told to; the peers called quiet and transport write none.
- One answer that is not 2xx, or one error of a connection, and the peer has no figures in that row.

Configurations: testdata/peers/nginx.conf.tmpl with testdata/nginx/laravel.conf.tmpl (Laravel's page) and
testdata/nginx/octane.conf.tmpl (Octane's page), testdata/peers/Caddyfile.tmpl, testdata/peers/gateway.toml.tmpl,
testdata/fpm/php-fpm.conf.tmpl (a static pool with a child for each request under way; a peer that keeps connections
has a pool of its own), testdata/resident/server.php (two workers). The kept peers keep as many idle connections as
there are requests under way. The backends of (a) and (e2) are in testdata/peers/responder.go.

`

const pageTail = `
## Not measured

- HTTP/3; TLS 1.2, RSA, post-quantum key exchange, early data, OCSP; HTTP/2 with more streams or priorities.
- Clients on a network, slow clients, uploads, downloads, WebSockets.
- More than one core for a peer; memory; many idle connections.
- Latency below saturation, which needs an open loop.
- nginx newer than Debian's, and nginx built or tuned otherwise. nginx with buffered access logs.
- Octane itself (Swoole, RoadRunner): the resident backend is a plain PHP server that keeps Laravel in memory as
  Octane does.
`
