//go:build stack

package main_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	floodFor    = 2 * time.Second
	attackers   = 4
	floodFrames = 50_000                 // of one attack, if it is let
	floodMemory = 48 << 10               // KiB that floods may add to RSS
	floodCPU    = 100 * time.Millisecond // that one connection may cost, with what else is done meanwhile
	othersWait  = time.Second            // for another client's file meanwhile, on a machine that is busy with the attack
)

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, payload string) []byte {
	return append([]byte{
		byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags,
		byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream),
	}, payload...)
}

// request is a head of GET / for shop.test.
const request = "\x82\x87\x84\x41\x09shop.test"

// floods are what a client may send after its preface.
var floods = map[string]func(i uint32) []byte{
	"rapid reset": func(i uint32) []byte {
		return append(frame(1, 5, 2*i+1, request), frame(3, 0, 2*i+1, "\x00\x00\x00\x08")...)
	},
	"ping":     func(uint32) []byte { return frame(6, 0, 0, "12345678") },
	"settings": func(uint32) []byte { return frame(4, 0, 0, "\x00\x04\x00\x01\x00\x00") },
	"continuation": func(i uint32) []byte {
		if i == 0 {
			return frame(1, 0, 1, request)
		}
		return frame(9, 0, 1, "")
	},
	"heads that grow": func(i uint32) []byte {
		if i == 0 {
			return frame(1, 0, 1, request)
		}
		return frame(9, 0, 1, "\x00\x01x\x7f\x80\x7e"+strings.Repeat("x", 16255))
	},
}

func TestFloodsCostLittleAndHurtNobodyElse(t *testing.T) {
	g := overHTTPS(t, "log = { access = false }\n")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "shop.test"}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	other := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	calm := g.timesOf(t, other, time.Second)
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			attack := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
			attack = append(attack, frame(4, 0, 0, "")...)
			for i := range uint32(floodFrames) {
				if attack = append(attack, flood(i)...); len(attack) > 8<<20 {
					break
				}
			}
			before, spent := g.kib(t, "VmRSS"), g.cpu(t)
			g.forgetPeak(t)
			connections, whole := g.attack(attack, func() {
				times := g.timesOf(t, other, floodFor)
				median, p99 := times[len(times)/2], times[len(times)*99/100]
				t.Logf("another client: median %v, p99 %v of %d; without the flood %v, %v", median, p99, len(times),
					calm[len(calm)/2], calm[len(calm)*99/100])
				if median > othersWait {
					t.Errorf("another client waited %v", median)
				}
			})
			each := (g.cpu(t) - spent) / time.Duration(max(1, connections))
			grown := g.kib(t, "VmHWM") - before
			t.Logf("%d connections, %v of CPU for each, RSS grew by %d KiB", connections, each, grown)
			if whole > 0 || connections < attackers {
				t.Errorf("%d of %d attacks were taken whole", whole, connections)
			}
			if each > floodCPU || grown > floodMemory {
				t.Errorf("a connection cost %v, want at most %v; RSS grew by %d KiB, want at most %d", each, floodCPU, grown, floodMemory)
			}
		})
	}
}

// attack has attackers send bytes while meanwhile runs, on one connection after the other. whole counts those on which
// the gateway was still there after all of it.
func (g *secureGateway) attack(bytes []byte, meanwhile func()) (connections, whole int64) {
	var stop atomic.Bool
	var begun, survived atomic.Int64
	var attacking sync.WaitGroup
	for range attackers {
		attacking.Go(func() {
			for !stop.Load() {
				conn, err := tls.Dial("tcp", g.secure, &tls.Config{InsecureSkipVerify: true, ServerName: "shop.test", NextProtos: []string{"h2"}})
				if err != nil {
					continue
				}
				begun.Add(1)
				conn.SetDeadline(time.Now().Add(10 * time.Second))
				ended := make(chan error, 1)
				go func() { _, err := io.Copy(io.Discard, conn); ended <- err }()
				_, _ = conn.Write(bytes) // fails when the gateway has ended the connection
				if err := <-ended; os.IsTimeout(err) {
					survived.Add(1)
				}
				conn.Close()
			}
		})
	}
	meanwhile()
	stop.Store(true)
	attacking.Wait()
	return begun.Load(), survived.Load()
}

// timesOf has client load a file a hundred times a second, and returns how long that took, sorted.
func (g *secureGateway) timesOf(t *testing.T, client *http.Client, during time.Duration) (times []time.Duration) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-tick.C {
		r, err := http.NewRequest("GET", "https://"+g.secure+"/hello.txt", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "shop.test"
		begun := time.Now()
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || resp.ProtoMajor != 2 || len(body) == 0 {
			t.Fatalf("%s over %s, %v", resp.Status, resp.Proto, err)
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return times
}

// cpu is the time that the gateway has spent on the CPU.
func (p *process) cpu(t *testing.T) (spent time.Duration) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, ticks := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(ticks)
		if err != nil {
			t.Fatal(err)
		}
		spent += time.Duration(n) * 10 * time.Millisecond
	}
	return spent
}
