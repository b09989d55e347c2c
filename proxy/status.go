package proxy

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gateway/fastcgi"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
	"gateway/proxy/static"
	"gateway/upstream"
	"gateway/upstream/spool"
)

// statusClientGone is for the log alone: there is nobody left to be told.
const statusClientGone = 499

var (
	// errCut is a backend that broke its answer off before any of it was sent on.
	errCut = errors.New("the answer broke off")
	// errRepeated is a request that says two things where only one can be meant.
	errRepeated = errors.New("Authorization is repeated")
	// errNoSite is a Host that no site has.
	errNoSite = errors.New("no site has this host")
	// errMalformed is a request of HTTP/2 or HTTP/3 that HTTP/1 could not say.
	errMalformed = errors.New("the target, the host or the length of the request is malformed")
	// errURITooLong is a target longer than limits.uri_bytes.
	errURITooLong = errors.New("the request target is longer than limits.uri_bytes")
	// errTooManyLines is a head of more fields than limits.header_lines.
	errTooManyLines = errors.New("the head has more fields than limits.header_lines")
	// errProtocol is a CONNECT for what is no WebSocket, or to an application that has none.
	errProtocol = errors.New("CONNECT for a protocol that is not there")
	// errRelease is a public folder that is not there.
	errRelease = errors.New("the site's root cannot be resolved")
)

// statusFor is the only place that turns what went wrong into a status.
func statusFor(r *http.Request, err error) int {
	var timeout interface{ Timeout() bool }
	var carried *upstream.Error
	var disk *spool.Error
	var many *tooManyError
	var guesses *limit.BusyError
	switch {
	case errors.Is(err, errTarget), errors.Is(err, errMalformed), errors.Is(err, errRepeated), errors.Is(err, static.ErrBadPath), errors.Is(err, upstream.ErrBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, static.ErrRefused):
		return http.StatusForbidden
	case errors.Is(err, static.ErrMissing):
		return http.StatusNotFound
	case errors.Is(err, errNoSite), errors.Is(err, errDisagree), errors.Is(err, errUnproven):
		return http.StatusMisdirectedRequest
	case errors.Is(err, errProtocol):
		return http.StatusNotImplemented
	case errors.Is(err, errNotAllowed):
		return http.StatusForbidden
	case errors.Is(err, errPassword):
		return http.StatusUnauthorized
	case errors.As(err, &many):
		return http.StatusTooManyRequests
	case errors.Is(err, errBodyTooLarge), errors.Is(err, spool.ErrLimit):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBodySlow):
		return http.StatusRequestTimeout
	case errors.Is(r.Context().Err(), context.Canceled):
		return statusClientGone
	case errors.As(err, &disk) && disk.Full():
		return http.StatusServiceUnavailable
	case errors.As(err, &disk), errors.Is(err, errRelease), errors.Is(err, errSpooled):
		return http.StatusInternalServerError
	case errors.As(err, &carried) && carried.Blame == upstream.Client:
		return clientBodyStatus(err)
	case errors.Is(err, errURITooLong):
		return http.StatusRequestURITooLong
	case errors.Is(err, fastcgi.ErrParamsTooLarge), errors.Is(err, errTooManyLines):
		return http.StatusRequestHeaderFieldsTooLarge
	case errors.As(err, &guesses), errors.Is(err, upstream.ErrNoBackend), errors.Is(err, upstream.ErrQueueFull), errors.Is(err, upstream.ErrQueueTimeout):
		return http.StatusServiceUnavailable
	case errors.As(err, &timeout) && timeout.Timeout():
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// clientBodyStatus tells a client that left half-way from one whose framing is wrong.
func clientBodyStatus(err error) int {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return statusClientGone
	}
	return http.StatusBadRequest
}

// fail notes err in the record and answers with the status that it stands for.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	rec := observe.FromContext(r.Context())
	rec.Err = err
	status := statusFor(r, err)
	if status == statusClientGone {
		rec.Status = status
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	var busy interface{ RetryAfter() time.Duration }
	if errors.As(err, &busy) && busy.RetryAfter() > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.RetryAfter().Seconds()))))
	}
	var disk *spool.Error
	unread := status == http.StatusRequestTimeout || status == http.StatusRequestEntityTooLarge || errors.As(err, &disk)
	if unread && r.ProtoMajor == 1 {
		h.Set("Connection", "close") // the rest of the body is not waited for; a later stream has nothing to do with it
	}
	writePage(w, r, status)
}

var page = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Code}} {{.Text}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;color:#444;display:grid;place-items:center;min-height:90vh;margin:0}
h1{font-size:1.1rem;font-weight:600}small{color:#888}</style></head>
<body><main><h1>{{.Code}} | {{.Text}}</h1><p><small>Request {{.ID}}</small></p></main></body></html>
`))

// writePage answers with a small page, or with JSON where the client asked for that as Laravel's do.
func writePage(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Del("Content-Length")
	h.Set("Cache-Control", "no-store")
	text, id := http.StatusText(status), observe.FromContext(r.Context()).ID
	if strings.Contains(r.Header.Get("Accept"), "json") {
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, "{\"message\":%q,\"request_id\":%q}\n", text, id)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// A client that does not take the page has nothing more to be told.
		_ = page.Execute(w, struct {
			Code     int
			Text, ID string
		}{status, text, id})
	}
}
