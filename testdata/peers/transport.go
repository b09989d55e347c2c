package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// serveTransport is the part of the peer called transport: Go's own reverse proxy over Go's own client, with no
// more than it needs to pass requests on as the gateway does.
func serveTransport(listen, backend string) error {
	target := &url.URL{Scheme: "http", Host: backend}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}
	return http.ListenAndServe(listen, proxy)
}
