package main

import (
	"fmt"
	"slices"
	"strings"
)

// row is one thing that every peer is asked for.
type row struct {
	Key    string `json:"key"` // for --rows
	Title  string `json:"title"`
	Host   string `json:"host"` // which site
	Path   string `json:"path"`
	Client string `json:"client,omitempty"` // who asks over TLS; nobody on a plain row, which is wrk's
	want   string // the body of every answer
}

// The clients of TLS listeners: two that make a connection for each request, and two of h2load, which keep theirs.
const (
	full    = "full handshakes"
	resumed = "resumed handshakes"
	http1   = "HTTP/1.1"
	http2   = "HTTP/2"
)

func (r row) overTLS() bool { return r.Client != "" }

// The sites of every peer, by the names of their hosts.
const (
	trivialHost  = "trivial.bench"
	helloHost    = "hello.bench"
	laravelHost  = "laravel.bench"
	residentHost = "resident.bench"
	plainHost    = "plain.bench"
)

const (
	hello = "hello\n"
	pong  = `{"pong":true}`
	file  = "/1k.txt"
)

func allRows() []row {
	return []row{
		{Key: "a", Title: "a trivial FastCGI responder", Host: trivialHost, Path: "/hello", want: hello},
		{Key: "b", Title: "PHP-FPM, a script that says hello", Host: helloHost, Path: "/hello", want: hello},
		{Key: "c", Title: "PHP-FPM, Laravel's ping route", Host: laravelHost, Path: "/api/ping", want: pong},
		{Key: "d", Title: "a static file of 1 KiB", Host: laravelHost, Path: file},
		{Key: "e", Title: "HTTP to the resident Laravel, ping route", Host: residentHost, Path: "/api/ping", want: pong},
		{Key: "e2", Title: "HTTP to a trivial backend: what Go's http.Transport costs", Host: plainHost, Path: "/hello", want: pong},
		{Key: "f", Title: "TLS: a full handshake and the file of 1 KiB, a connection each", Host: laravelHost, Path: file, Client: full},
		{Key: "f2", Title: "TLS: a resumed handshake and the file of 1 KiB, a connection each", Host: laravelHost, Path: file, Client: resumed},
		{Key: "g", Title: "TLS, HTTP/1.1: a static file of 1 KiB", Host: laravelHost, Path: file, Client: http1},
		{Key: "g2", Title: "TLS, HTTP/2: a static file of 1 KiB", Host: laravelHost, Path: file, Client: http2},
		{Key: "h", Title: "TLS, HTTP/1.1: PHP-FPM, a script that says hello", Host: helloHost, Path: "/hello", Client: http1, want: hello},
		{Key: "h2", Title: "TLS, HTTP/2: PHP-FPM, a script that says hello", Host: helloHost, Path: "/hello", Client: http2, want: hello},
	}
}

// peer is one web server in one configuration.
type peer struct {
	Key     string `json:"key"` // for --peers
	What    string `json:"what"`
	rows    string // keys of the rows it is measured on, with spaces between
	kind    string // nginx, caddy, gateway or transport
	kept    bool   // keeps FastCGI connections, and nginx those to HTTP backends too
	noLines bool   // writes no access log
}

// reference is the peer that the others are compared with.
const reference = "nginx"

func allPeers() []peer {
	return []peer{
		{Key: reference, kind: "nginx", rows: "a b c d e e2 f f2 g g2 h h2",
			What: "as Laravel's and Octane's deployment pages have it: a connection to the backend for each request"},
		{Key: "nginx-kept", kind: "nginx", kept: true, rows: "a b c e e2",
			What: "the same with connections to the backend kept (`fastcgi_keep_conn`, `keepalive`)"},
		{Key: "caddy", kind: "caddy", rows: "a b c d e e2 f f2 g g2 h h2",
			What: "`php_fastcgi` and `file_server`, or `reverse_proxy`; FastCGI connections cannot be kept, HTTP ones are"},
		{Key: "gateway", kind: "gateway", rows: "a b c d e e2 f f2 g g2 h h2",
			What: "as it comes: a FastCGI connection for each request, at most 5 at once; HTTP connections are kept"},
		{Key: "gateway-kept", kind: "gateway", kept: true, rows: "a b c",
			What: "told how many children the pool has, and to keep a connection to each (`max_in_flight`, `max_idle`)"},
		{Key: "nginx-quiet", kind: "nginx", noLines: true, rows: "a d e2", What: "nginx without its access log"},
		{Key: "gateway-quiet", kind: "gateway", noLines: true, rows: "a d e2", What: "the gateway without its access log"},
		{Key: "transport", kind: "transport", rows: "e2",
			What: "`httputil.ReverseProxy` over `http.Transport` and nothing else: no files, no access log, no metrics"},
	}
}

func (p peer) measuredOn(r row) bool { return slices.Contains(strings.Fields(p.rows), r.Key) }

// choose returns those of all whose key stands in list, a list with commas; an empty list means all.
func choose[T any](flag, list string, all []T, key func(T) string) ([]T, error) {
	if list == "" {
		return all, nil
	}
	var chosen []T
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(all, func(t T) bool { return key(t) == name })
		if i < 0 {
			var keys []string
			for _, t := range all {
				keys = append(keys, key(t))
			}
			return nil, fmt.Errorf("%s: unknown %q; want some of %s", flag, name, strings.Join(keys, ","))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
