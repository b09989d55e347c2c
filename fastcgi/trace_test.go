package fastcgi

import (
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	"gateway/fastcgi/fcgitest"
)

// events is a trace that writes down what happened. Hooks may be called from the goroutine that sends a body.
type events struct {
	mu    sync.Mutex
	names []string
}

func (e *events) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.names = append(e.names, name)
}

func (e *events) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { e.add("get") },
		ConnectStart: func(string, string) { e.add("connect") },
		ConnectDone:  func(_, _ string, err error) { e.add(word("connected", err == nil)) },
		GotConn:      func(i httptrace.GotConnInfo) { e.add(word("reused", i.Reused)) },
		WroteRequest: func(i httptrace.WroteRequestInfo) { e.add(word("wrote", i.Err == nil)) },
		GotFirstResponseByte: func() {
			e.add("answer")
		},
	}
}

func word(w string, yes bool) string {
	if yes {
		return w
	}
	return "not " + w
}

func TestTrace(t *testing.T) {
	for _, start := range []func(testing.TB, ...fcgitest.Step) *fcgitest.Responder{fcgitest.New, fcgitest.NewTCP} {
		r := start(t, fcgitest.Stderr("first"), fcgitest.Reply(200, "")).Then(fcgitest.Reply(200, "")).Then(fcgitest.Cut())
		tr := newTransport(t, r, keep(1))
		for _, want := range []string{
			"get connect connected not reused wrote answer",
			"get reused wrote answer",
			"get reused wrote",
			"get connect not connected",
		} {
			var e events
			req := withBody(t, httptrace.WithClientTrace(WithEnv(t.Context(), newEnv()), e.trace()), "GET", nil)
			if strings.HasPrefix(want, "get connect not") {
				r.Close()
			}
			if strings.HasSuffix(want, "answer") {
				send(t, tr, req)
			} else {
				refusal(t, tr, req)
			}
			if got := strings.Join(e.names, " "); got != want {
				t.Errorf("%s: %s, want %s", r.Network(), got, want)
			}
		}
	}
}

func TestTraceShowsWhereTheConnectionLeads(t *testing.T) {
	for _, start := range []func(testing.TB, ...fcgitest.Step) *fcgitest.Responder{fcgitest.New, fcgitest.NewTCP} {
		r := start(t, fcgitest.Reply(200, ""))
		var remote, local string
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			remote, local = i.Conn.RemoteAddr().String(), i.Conn.LocalAddr().Network()
		}}
		send(t, newTransport(t, r), withBody(t, httptrace.WithClientTrace(WithEnv(t.Context(), newEnv()), trace), "GET", nil))
		if remote != r.Addr() || local != r.Network() {
			t.Errorf("connection to %s over %s, want %s over %s", remote, local, r.Addr(), r.Network())
		}
	}
}
