package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gateway/proxy"
	"gateway/proxy/admin"
	"gateway/proxy/certs"
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
	s.Certificates = []certs.HostStatus{
		{Host: "shop.example", Source: "acme", Issuer: "R11", Until: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Host: "www.shop.example", Source: "acme", Problem: "no certificate yet"},
		{Host: "old.example", Source: "files", Problem: "storage: full", Since: time.Now().Add(-time.Hour)},
	}
	printStatus(&out, s)
	want := `up 1m0s, 1 open tunnel
shop.example  acme, until 2027-01-02 03:04:05
www.shop.example  acme
  problem: no certificate yet
old.example  files
  problem: storage: full (for 1h0m0s)
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
