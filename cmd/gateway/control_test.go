package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gateway/proxy"
	"gateway/proxy/admin"
	"gateway/upstream"
)

func TestStatusForPeople(t *testing.T) {
	var out bytes.Buffer
	s := proxy.Status{Started: time.Now().Add(-time.Minute), Tunnels: 1}
	s.Upstreams = []proxy.UpstreamStatus{{Name: "fpm", Queued: 2, Backends: []upstream.BackendStatus{
		{Addr: "a", InFlight: 5, Served: 7},
		{Addr: "b", Failures: 1, Failed: 1},
		{Addr: "c", Failures: 3, Failed: 9, Ejected: time.Now().Add(8 * time.Second)},
		{Addr: "d", Failures: 3, Failed: 7, Down: time.Now().Add(-5 * time.Second)},
	}}}
	printStatus(&out, s)
	want := `up 1m0s, 1 open tunnel
fpm: 2 queued
  a  in use, 5 in flight, 7 served, 0 failed
  b  in use, 1 failure of late, 0 in flight, 0 served, 1 failed
  c  left alone for 8s, 0 in flight, 0 served, 9 failed
  d  down for 5s, tried as the last there is, 0 in flight, 0 served, 7 failed
`
	if out.String() != want {
		t.Errorf("status:\n%swant:\n%s", out.String(), want)
	}
}

func TestEveryReasonOfARefusalIsALine(t *testing.T) {
	var words bytes.Buffer
	complain(&words, reasons(&admin.RefusedError{Reasons: "a.toml:1:1: x\na.toml:2:1: y"}))
	want := "gateway: error: a.toml:1:1: x\ngateway: error: a.toml:2:1: y\ngateway: hint: nothing has changed"
	if !strings.HasPrefix(words.String(), want) || strings.Count(words.String(), "hint") != 1 {
		t.Errorf("words:\n%s", words.String())
	}
}
