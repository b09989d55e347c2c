package proxy

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"gateway/fastcgi/fcgitest"
)

// wantEnd waits for the end of conn.
func wantEnd(t *testing.T, conn *quic.Conn, within time.Duration) {
	t.Helper()
	select {
	case <-conn.Context().Done():
	case <-time.After(within):
		t.Errorf("the connection is still there after %v", within)
	}
}

func TestSlowHeadOverHTTP3IsGivenUp(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overQUIC("limits = { header_timeout = \"500ms\", idle_timeout = \"500ms\" }\n"+site))
	for name, served := range map[string]bool{"before any request": false, "after a request": true} {
		conn, client := f.http3Conn()
		if served {
			r, _ := http.NewRequest("GET", "https://shop.test/", nil)
			resp, err := client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		stream, err := conn.OpenStreamSync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := stream.Write([]byte{1, 100, 0, 0}); err != nil { // of a HEADERS of 100 bytes
			t.Fatal(err)
		}
		// Signs of life are no head.
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
				if _, err := stream.Write([]byte{0}); err != nil {
					return
				}
			}
		}()
		wantEnd(t, conn, 10*time.Second)
		cancel()
		t.Logf("%s: ended after %v", name, time.Since(begun))
	}
}

func TestSilentHTTP3ConnectionIsGivenUp(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overQUIC("limits = { header_timeout = \"300ms\" }\n"+site))
	wantEnd(t, f.quic(), 10*time.Second)
}

func TestFaultOfABodyLeavesTheOtherStreamsOfHTTP3(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overQUIC("limits = { body = \"1KiB\", body_timeout = \"300ms\" }\n"+site))
	conn, client := f.http3Conn()
	slow, in := io.Pipe()
	defer in.Close()
	for name, c := range map[string]struct {
		body io.Reader
		want int
	}{"large": {io.MultiReader(strings.NewReader(strings.Repeat("x", 5000))), 413}, "slow": {slow, 408}, "none": {nil, 200}} {
		r, _ := http.NewRequest("POST", "https://shop.test/", c.body)
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.want || resp.Header["Connection"] != nil {
			t.Errorf("%s: %s, want %d", name, resp.Status, c.want)
		}
	}
	if err := conn.Context().Err(); err != nil {
		t.Errorf("the connection ended: %v", err)
	}
}

// A client that opens its window and then takes nothing has its request ended, and with it what the backend does for it.
func TestClientOfHTTP3ThatTakesNothingIsGivenUp(t *testing.T) {
	ended := make(chan struct{})
	handler := outermostFirst(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		relay := newRelay(w, r, 200, testStorage("", 64<<10))
		_, clientErr := relay.copy(pouring{}, false)
		if clientErr == nil {
			t.Error("no error for the client's fault")
		}
	}), pace(300*time.Millisecond, 1))
	f := serve(t, overQUIC(fpmSite(fcgitest.New(t), "")))
	f.swap(handler)
	conn, _ := f.http3Conn()
	stream, err := (&http3.Transport{}).NewClientConn(conn).OpenRequestStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("GET", "https://shop.test/", nil)
	if err := stream.SendRequestHeader(r); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the request goes on")
	}
}

// pouring is an endless answer of a backend that nobody tells when its request is over: it ends with the client alone.
type pouring struct{}

func (pouring) Read(p []byte) (int, error) { return len(p), nil }

// giveUp ends a request without taking its answer. A reset of what was sent could overtake it.
func giveUp(stream *http3.RequestStream) {
	stream.Close()
	stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
}

func TestRapidResetsEndTheHTTP3Connection(t *testing.T) {
	site, count := countingApp(t)
	f := serve(t, overQUIC(site))
	conn, client := f.http3Conn()
	sent := 0
	for ; sent < 20_000 && conn.Context().Err() == nil; sent++ {
		ctx, cancel := context.WithTimeout(conn.Context(), 10*time.Second)
		stream, err := client.OpenRequestStream(ctx)
		cancel()
		if err != nil {
			break
		}
		r, _ := http.NewRequest("GET", "https://shop.test/", nil)
		if stream.SendRequestHeader(r) != nil {
			break
		}
		giveUp(stream)
	}
	if n := count.Load(); sent >= 20_000 || n > resetBurst+resetRate*20 {
		t.Errorf("%d streams were opened and reset, %d reached the application", sent, n)
	}
	if resp, _ := f.ask(f.clientHTTP3(), "GET", "/", nil); resp.StatusCode != 200 {
		t.Errorf("another client got %s", resp.Status)
	}
}

// What a client has given up counts until we have given it up too.
func TestRequestsOfHTTP3AtOnceAreBounded(t *testing.T) {
	var open, most atomic.Int64
	leave := make(chan struct{})
	f := serve(t, overQUIC("limits = { streams_per_connection = 5 }\n"+fpmSite(fcgitest.New(t), "")))
	f.swap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		<-leave
	}))
	defer close(leave)
	_, client := f.http3Conn()
	for i := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		stream, err := client.OpenRequestStream(ctx)
		cancel()
		if err != nil {
			break
		}
		r, _ := http.NewRequest("GET", "https://shop.test/", nil)
		if err := stream.SendRequestHeader(r); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the request is under way", func() bool { return open.Load() > int64(i) })
		stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	}
	if n := most.Load(); n != 5 {
		t.Errorf("%d requests at once, want 5", n)
	}
}

// swap has handler answer from now on.
func (f *fixture) swap(handler http.Handler) {
	old := f.current.Load().value
	next := &state{
		cfg: old.cfg, handler: handler, ended: make(chan struct{}), log: old.log, groups: old.groups, certs: old.certs, door: old.door,
	}
	next.self = share(next, (*state).end)
	f.current.Store(next.self)
}

// has says whether the client has n connections or more.
func (f *fixture) has(n int) bool {
	client := netip.MustParseAddr("127.0.0.1")
	if !f.accepted.Take(client, n) {
		return true
	}
	f.accepted.Give(client)
	return false
}

func TestConnectionsOfHTTP3CountAsThoseOverTCP(t *testing.T) {
	site, _ := countingApp(t)
	f := serve(t, overQUIC("limits = { connections_per_address = 2 }\n"+site))
	first := f.quic()
	eventually(t, "the first is counted", func() bool { return f.has(1) })
	over := f.dial()
	eventually(t, "the second is counted", func() bool { return f.has(2) })
	wantEnd(t, f.quic(), 5*time.Second)
	first.CloseWithError(0, "")
	over.Close()
	eventually(t, "none is left", func() bool { return !f.has(1) })
	f.ask(f.clientHTTP3(), "GET", "/", nil)
}
