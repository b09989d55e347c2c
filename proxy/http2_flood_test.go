package proxy

import (
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"gateway/fastcgi/fcgitest"
)

// liveHeap is what is in use after a collection, in bytes.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// countingApp is a site whose application counts its requests, each of which takes a while.
func countingApp(t *testing.T) (site string, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	responder := fcgitest.New(t, fcgitest.Echo(func(fcgitest.Request) string {
		count.Add(1)
		return "Content-Type: text/plain\r\n\r\nok"
	}), fcgitest.End(0, 0))
	return fpmSite(responder, ""), count
}

func TestFloodsOfFramesEndTheConnection(t *testing.T) {
	block := func(c *frames) []byte { return append([]byte(nil), c.block("/")...) }
	head := func(c *frames, end bool) error {
		return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(c), EndHeaders: end})
	}
	for _, flood := range []struct {
		name  string
		begin func(c *frames) error // nil: nothing comes before
		next  func(c *frames, i int) error
	}{
		{"PING", nil, func(c *frames, i int) error { return c.WritePing(false, [8]byte{}) }},
		{"SETTINGS", nil, func(c *frames, i int) error { return c.WriteSettings() }},
		{"PRIORITY", nil, func(c *frames, i int) error {
			return c.WritePriority(uint32(2*i+1), http2.PriorityParam{Weight: byte(i)})
		}},
		{"WINDOW_UPDATE", nil, func(c *frames, i int) error { return c.WriteWindowUpdate(0, 1) }},
		{"a type that nobody knows", nil, func(c *frames, i int) error { return c.WriteRawFrame(0xfe, 0, 0, nil) }},
		{"empty DATA", func(c *frames) error { return head(c, true) }, func(c *frames, i int) error { return c.WriteData(1, false, nil) }},
		{"empty CONTINUATION", func(c *frames) error { return head(c, false) }, func(c *frames, i int) error { return c.WriteContinuation(1, false, nil) }},
		{"CONTINUATION", func(c *frames) error { return head(c, false) }, func(c *frames, i int) error {
			return c.WriteContinuation(1, false, c.block("/", "x", strings.Repeat("x", 8000))[10:])
		}},
	} {
		t.Run(flood.name, func(t *testing.T) {
			site, _ := countingApp(t)
			f := serve(t, overTLS(site))
			other := f.clientHTTP2()
			f.ask(other, "GET", "/", nil)
			before := liveHeap()
			c := f.frames()
			if flood.begin != nil {
				c.must(flood.begin(c))
			}
			ended := make(chan error, 1)
			go func() { _, err := c.drain(); ended <- err }()
			sent := 0
			for ; flood.next(c, sent) == nil && sent < 100_000; sent++ {
			}
			<-ended
			// About 1,000 are taken; others are on their way then, and read by nobody.
			if sent > 25_000 {
				t.Errorf("the connection took %d frames", sent)
			}
			if grown := liveHeap() - before; grown > 8<<20 {
				t.Errorf("%d bytes are held", grown)
			}
			if resp, body := f.ask(other, "GET", "/", nil); resp.StatusCode != 200 || body != "ok" {
				t.Errorf("another client got %s", resp.Status)
			}
		})
	}
}

func TestRapidResetsEndTheConnection(t *testing.T) {
	site, count := countingApp(t)
	f := serve(t, overTLS(site))
	c := f.frames()
	ended := make(chan error, 1)
	go func() { _, err := c.drain(); ended <- err }()
	sent := 0
	for ; sent < 100_000; sent++ {
		if c.get(uint32(2*sent+1), "/") != nil || c.WriteRSTStream(uint32(2*sent+1), http2.ErrCodeCancel) != nil {
			break
		}
	}
	<-ended
	if n := count.Load(); sent >= 100_000 || n > resetBurst+resetRate*10 {
		t.Errorf("%d streams were opened and reset, %d reached the application", sent, n)
	}
	if resp, _ := f.ask(f.clientHTTP2(), "GET", "/", nil); resp.StatusCode != 200 {
		t.Errorf("another client got %s", resp.Status)
	}
	eventually(t, "line in the log", func() bool { return strings.Contains(f.accessLog(), errResetFlood.Error()) })
}

// A stream can also be made to fail by the server: by a window of 0, in place of a reset.
func TestStreamsThatAreMadeToFailAreResets(t *testing.T) {
	site, count := countingApp(t)
	f := serve(t, overTLS(site))
	c := f.frames()
	ended := make(chan error, 1)
	go func() { _, err := c.drain(); ended <- err }()
	sent := 0
	for ; sent < 100_000; sent++ {
		if c.get(uint32(2*sent+1), "/") != nil || c.WriteRawFrame(http2.FrameWindowUpdate, 0, uint32(2*sent+1), make([]byte, 4)) != nil {
			break
		}
	}
	<-ended
	if n := count.Load(); sent >= 100_000 || n > resetBurst+controlBurst+2000 {
		t.Errorf("%d streams were made to fail, %d reached the application", sent, n)
	}
}

func TestOrdinaryUseIsNoFlood(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overTLS(site))
	write(t, f.public+"/big.bin", strings.Repeat("x", 8<<20))
	client := f.clientHTTP2()
	for range 300 { // each with a window of its own to fill and to open
		if resp, _ := f.ask(client, "GET", "/", nil); resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
	}
	if _, body := f.ask(client, "GET", "/big.bin", nil); len(body) != 8<<20 {
		t.Errorf("%d bytes", len(body))
	}
	c := f.frames()
	go c.drain()
	for i := range 300 { // a page that is left while its images load
		c.must(c.get(uint32(2*i+1), "/big.bin"))
		c.must(c.WriteRSTStream(uint32(2*i+1), http2.ErrCodeCancel))
	}
	c.must(c.WritePing(false, [8]byte{}))
	if log := f.accessLog(); strings.Contains(log, "connection refused") {
		t.Errorf("log: %s", log)
	}
}

func TestSlowHeadOverHTTP2IsGivenUp(t *testing.T) {
	for name, bytes := range map[string]string{
		"half a HEADERS":   "\x00\x00\x20\x01\x04\x00\x00\x00\x01abc",
		"no CONTINUATION":  "\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82",
		"a bit of a frame": "\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			site, _ := countingApp(t)
			f := serve(t, overTLS("limits = { header_timeout = \"300ms\", idle_timeout = \"60s\" }\n"+site))
			c := f.frames()
			io.WriteString(c.conn, bytes)
			begun := time.Now()
			if _, err := c.drain(); err == nil || time.Since(begun) > 10*time.Second {
				t.Errorf("ended with %v after %v", err, time.Since(begun))
			}
		})
	}
}

func TestSlowPrefaceIsGivenUp(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overTLS("limits = { header_timeout = \"300ms\" }\n"+site))
	conn := tlsClient(f)
	begun := time.Now()
	if _, err := io.ReadAll(conn); time.Since(begun) > 10*time.Second {
		t.Errorf("ended with %v after %v", err, time.Since(begun))
	}
}

// Heads that follow each other without a pause are no slow head, however they are cut into reads.
func TestManyHeadsHaveTheirOwnTimes(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overTLS("limits = { header_timeout = \"300ms\" }\n"+site))
	c := f.frames()
	go c.drain()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	begin, end := "\x00\x00", "\x08\x06\x00\x00\x00\x00\x0012345678" // a PING, and the first bytes of the next
	io.WriteString(c.conn, begin)
	for range 50 {
		<-tick.C
		if _, err := io.WriteString(c.conn, end+begin); err != nil {
			t.Fatalf("the connection ended: %v", err)
		}
	}
	if _, err := io.WriteString(c.conn, end); err != nil {
		t.Fatal(err)
	}
}

func TestFaultOfABodyLeavesTheOtherStreams(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overTLS("limits = { body = \"1KiB\", body_timeout = \"300ms\" }\n"+site))
	client := f.clientHTTP2()
	slow, in := io.Pipe()
	defer in.Close()
	for name, c := range map[string]struct {
		body io.Reader
		want int
	}{"large": {io.MultiReader(strings.NewReader(strings.Repeat("x", 5000))), 413}, "slow": {slow, 408}} {
		if resp, _ := f.ask(client, "POST", "/", c.body); resp.StatusCode != c.want || resp.Header.Get("Connection") != "" {
			t.Errorf("%s: %s, want %d", name, resp.Status, c.want)
		}
		if reused := f.reuses(client); !reused {
			t.Errorf("%s: the connection was ended", name)
		}
	}
}
