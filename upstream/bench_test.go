package upstream

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// drainBody reads a response to its end through one buffer, as a forwarder does.
func drainBody(b *testing.B, resp *http.Response, err error, buffer []byte) {
	if err != nil {
		b.Fatal(err)
	}
	for err == nil {
		_, err = resp.Body.Read(buffer)
	}
	if err != io.EOF {
		b.Fatal(err)
	}
	resp.Body.Close()
}

// BenchmarkGroup is what a group costs by itself: its transports answer at once.
func BenchmarkGroup(b *testing.B) {
	for _, policy := range []string{"round_robin", "least_in_flight", "power_of_two", "hash"} {
		var backends []BackendConfig
		for _, addr := range []string{"a", "b", "c", "d"} {
			backends = append(backends, BackendConfig{Addr: addr, MaxInFlight: 100, Transport: tripFunc(
				func(r *http.Request) (*http.Response, error) { return &http.Response{Body: oneByte{}}, nil })})
		}
		g := newGroup(b, Config{Backends: backends, Policy: policy, HashKey: func(*http.Request) string { return "key" }})
		b.Run("policy="+policy, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				r, buffer := newRequest("GET", ""), make([]byte, 1024)
				for pb.Next() {
					resp, err := g.RoundTrip(r)
					drainBody(b, resp, err, buffer)
				}
			})
		})
	}
}

// oneByte is a body that costs nothing.
type oneByte struct{}

func (oneByte) Read([]byte) (int, error) { return 1, io.EOF }
func (oneByte) Close() error             { return nil }

// BenchmarkQueue is a group of which every slot is taken, so that every request waits for another to end.
func BenchmarkQueue(b *testing.B) {
	g := newGroup(b, Config{QueueLength: 1000, Backends: oneBackend(tripFunc(
		func(*http.Request) (*http.Response, error) { return &http.Response{Body: oneByte{}}, nil }), 1)})
	b.ReportAllocs()
	b.SetParallelism(32)
	cpu := cpuTime()
	b.RunParallel(func(pb *testing.PB) {
		r, buffer := newRequest("GET", ""), make([]byte, 1024)
		for pb.Next() {
			resp, err := g.RoundTrip(r)
			drainBody(b, resp, err, buffer)
		}
	})
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N), "cpu-ns/op")
}

// BenchmarkHTTP compares our transport with net/http's, through a group, against a backend in this process.
func BenchmarkHTTP(b *testing.B) {
	page := strings.Repeat("x", 1024)
	addr, _ := httpBackend(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, page)
	})
	headers := []string{"Accept", "Accept-Language", "Cookie", "X-Forwarded-For", "X-Forwarded-Proto", "User-Agent"}
	theirs := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	b.Cleanup(theirs.CloseIdleConnections)
	for _, name := range []string{"ours", "net-http"} {
		transport := map[string]http.RoundTripper{"ours": newHTTP(b, HTTPConfig{Address: addr}), "net-http": theirs}[name]
		for _, upload := range []string{"", strings.Repeat("x", 2<<10)} {
			method := map[bool]string{true: "GET", false: "POST"}[upload == ""]
			g := newGroup(b, Config{Backends: oneBackend(transport, 0)})
			b.Run("transport="+name+"/method="+method, func(b *testing.B) {
				b.ReportAllocs()
				buffer, cpu := make([]byte, 32<<10), cpuTime()
				for b.Loop() {
					r := newRequest(method, upload)
					r.URL.Host = addr
					for _, name := range headers {
						r.Header[name] = []string{"some value of it"}
					}
					resp, err := g.RoundTrip(r)
					drainBody(b, resp, err, buffer)
				}
				b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// cpuTime is what this process has used, backend included. It does not depend on what else the machine does.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
