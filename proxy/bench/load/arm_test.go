package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func served(t *testing.T, handler http.HandlerFunc) *TransportArm {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &TransportArm{Transport: transport, Address: s.Listener.Addr().String()}
}

func mustSend(t *testing.T, arm Arm, r *Request, a *Answer) {
	t.Helper()
	if err := arm.Send(context.Background(), r, a); err != nil {
		t.Fatal(err)
	}
}

func TestAnswerIsReadWhole(t *testing.T) {
	const size = bodyKept + 100_000
	arm := served(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Method+" "+r.Host+r.RequestURI+" "+r.Header.Get("X-Own"))
		_, _ = io.Copy(w, r.Body)
		fmt.Fprint(w, strings.Repeat("x", size))
	})
	header := http.Header{"X-Own": {"yes"}}
	r := &Request{Method: "POST", Target: "/a%2Fb?c=%20d", Host: "shop.example", Header: header, Body: []byte("abc")}
	kept, other := Answer{KeepBody: true}, Answer{}
	mustSend(t, arm, r, &kept)
	mustSend(t, arm, r, &other)
	if got := kept.Header.Get("X-Asked"); got != "POST shop.example/a%2Fb?c=%20d yes" {
		t.Errorf("asked %s", got)
	}
	if kept.Status != 200 || kept.Size != size+3 || len(kept.Body) != bodyKept || !bytes.HasPrefix(kept.Body, []byte("abcx")) {
		t.Errorf("status %d, %d bytes, %d kept", kept.Status, kept.Size, len(kept.Body))
	}
	if kept.Sum != other.Sum || kept.Sum == 0 || len(other.Body) != 0 {
		t.Errorf("sums %x, %x; %d bytes kept that nobody wanted", kept.Sum, other.Sum, len(other.Body))
	}
	if kept.Wrote.IsZero() || kept.FirstByte.Before(kept.Wrote) || kept.End.Before(kept.FirstByte) {
		t.Errorf("times %v, %v, %v", kept.Wrote, kept.FirstByte, kept.End)
	}
}

func TestConnectionsAreToldApart(t *testing.T) {
	arm := served(t, func(http.ResponseWriter, *http.Request) {})
	r := &Request{Method: "GET", Target: "/", Host: "x"}
	var answers [3]Answer
	for i := range answers {
		mustSend(t, arm, r, &answers[i])
	}
	// Only one that carries several has a number.
	if answers[0].Reused || answers[0].Conn != 0 || !answers[1].Reused || answers[1].Conn == 0 || answers[2].Conn != answers[1].Conn {
		t.Errorf("%+v", answers)
	}
	var ids connIDs
	seen := map[uint64]bool{}
	for range 2 * mostConns {
		seen[ids.of(new(net.TCPConn))] = true
	}
	if len(seen) != 2*mostConns || len(ids.ids) > mostConns || ids.of(nil) != 0 {
		t.Errorf("%d numbers, %d kept", len(seen), len(ids.ids))
	}
}

func TestWhatCannotBeSentIsAnError(t *testing.T) {
	arm := served(t, func(http.ResponseWriter, *http.Request) {})
	if err := arm.Send(t.Context(), &Request{Method: "GET", Target: "nowhere", Host: "x"}, new(Answer)); err == nil {
		t.Error("a target that is none was sent")
	}
	refusal := errors.New("no release")
	arm.Prepare = func(*http.Request) (*http.Request, error) { return nil, refusal }
	if err := arm.Send(t.Context(), &Request{Method: "GET", Target: "/", Host: "x"}, new(Answer)); !errors.Is(err, refusal) {
		t.Errorf("error = %v", err)
	}
}

func TestURLsAreKeptAndBounded(t *testing.T) {
	var c urlCache
	r := &Request{Target: "/a?b", Host: "x"}
	first, err := c.of("https", "", r)
	again, _ := c.of("https", "", r)
	if err != nil || first != again || first.String() != "https://x/a?b" {
		t.Errorf("%v, %v, %v", first, again, err)
	}
	for i := range mostURLs + 10 {
		if _, err := c.of("", "", &Request{Target: fmt.Sprintf("/%d", i), Host: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	c.known.Range(func(_, u any) bool {
		kept++
		return u.(*url.URL).Host == "x"
	})
	if kept != mostURLs {
		t.Errorf("%d URLs kept, want %d", kept, mostURLs)
	}
}

// What an arm waits for at its own door is part of the answer's time, and not of the generator's lateness.
func TestQueueOfTheArmIsNotLateness(t *testing.T) {
	arm := newSynthetic(1, func(int) time.Duration { return 4 * time.Millisecond })
	queueing := armFunc(func(ctx context.Context, n int, a *Answer) error {
		err := arm.Send(ctx, &Request{Target: fmt.Sprintf("/%d", n)}, a)
		a.Wrote = a.End.Add(-4 * time.Millisecond)
		return err
	})
	b := mustRun(t, Plan{Rate: 300, For: time.Second, Drain: 10 * time.Second}, queueing)
	if b.Queued.Quantile(0.9) < 20*time.Millisecond || b.Service.Quantile(0.9) < 20*time.Millisecond || b.Lateness.Quantile(0.5) > 10*time.Millisecond {
		t.Errorf("queued p90 %s, service p90 %s, late p50 %s", b.Queued.Quantile(0.9), b.Service.Quantile(0.9), b.Lateness.Quantile(0.5))
	}
	if little := b.Rate(0) * b.Service.Mean().Seconds(); little < 0.5*b.MeanInFlight {
		t.Errorf("rate times time %.1f, in flight %.1f", little, b.MeanInFlight)
	}
}

func TestWhatIsDueIsCounted(t *testing.T) {
	b := mustRun(t, Plan{Rate: 400, For: time.Second, Discard: 200 * time.Millisecond}, armFunc(func(_ context.Context, _ int, a *Answer) error {
		a.Status = 200
		return nil
	}))
	if b.Due != b.Issued || b.Due < 200 {
		t.Errorf("%d due, %d issued", b.Due, b.Issued)
	}
	hangs := armFunc(func(ctx context.Context, _ int, _ *Answer) error {
		<-ctx.Done()
		return ctx.Err()
	})
	b = mustRun(t, Plan{Rate: 400, Arrivals: Constant, For: time.Second, InFlight: 10, Drain: 50 * time.Millisecond}, hangs)
	if b.Due != 400 || b.Issued > 12 {
		t.Errorf("%d due, %d issued by an arm that hangs", b.Due, b.Issued)
	}
}

// busy is what a full queue says.
type busy struct{ error }

func (busy) Busy() bool { return true }

// later is what a queue says whose time is over.
type later struct{ error }

func (later) RetryAfter() time.Duration { return time.Second }

func TestFullQueueIsBusyAndNotTheArmsFault(t *testing.T) {
	for err, want := range map[error]string{
		busy{errors.New("full")}: "busy", later{errors.New("full")}: "busy", errResent: "reset", io.ErrUnexpectedEOF: "truncated",
		errors.New("something"): "other", context.DeadlineExceeded: "timeout", &net.OpError{Err: io.EOF}: "truncated",
	} {
		if got := kindOf(fmt.Errorf("send: %w", err)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
