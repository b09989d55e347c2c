package fastcgi

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"gateway/fastcgi/fcgitest"
)

func TestDeadlineIsNeverEarlyAndHardlyLate(t *testing.T) {
	const d = time.Minute
	now := time.Now()
	for name, set := range map[string]time.Time{
		"none": {}, "passed": now.Add(-d), "interrupted": longAgo, "too early": now.Add(d - time.Second), "too late": now.Add(2 * d),
	} {
		by, ok := deadline(set, d)
		if left := by.Sub(now); ok || left < d || left > d+d/latePart+10*time.Second {
			t.Errorf("%s: %v left, kept %t", name, left, ok)
		}
	}
	kept := now.Add(d + d/latePart)
	if by, ok := deadline(kept, d); !ok || by != kept {
		t.Errorf("deadline moved from %v to %v, want it left", kept, by)
	}
	if by, ok := deadline(kept, 0); ok || !by.IsZero() {
		t.Errorf("deadline = %v, kept %t, want none", by, ok)
	}
}

// movedDeadlines counts how often a deadline is set.
type movedDeadlines struct {
	net.Conn
	n int
}

func (m *movedDeadlines) SetDeadline(t time.Time) error     { m.n++; return m.Conn.SetDeadline(t) }
func (m *movedDeadlines) SetReadDeadline(t time.Time) error { m.n++; return m.Conn.SetReadDeadline(t) }
func (m *movedDeadlines) SetWriteDeadline(t time.Time) error {
	m.n++
	return m.Conn.SetWriteDeadline(t)
}

func TestExchangeSetsOneDeadline(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	m := &movedDeadlines{Conn: near}
	c := &conn{Conn: m}
	for range 3 { // requests on a kept connection
		for _, err := range []error{c.writeWithin(time.Minute, time.Minute), c.readWithin(time.Minute), c.readWithin(time.Minute)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if m.n != 1 {
		t.Errorf("deadlines were set %d times, want once", m.n)
	}
	c.readWithin(time.Second)
	c.writeWithin(time.Second, time.Minute)
	if m.n != 3 {
		t.Errorf("deadlines were set %d times, want 3: other timeouts have deadlines of their own", m.n)
	}
}

func TestInterruptedConnectionCanBeReadAgain(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	c := &conn{Conn: near}
	c.writeWithin(time.Minute, time.Minute)
	c.interruptRead()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read = %v, want an interruption", err)
	}
	c.readWithin(time.Minute)
	go far.Write([]byte("x"))
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Errorf("read = %d bytes, %v, want one", n, err)
	}
}

// A connection may be idle for longer than an answer may take.
func TestDeadlineOfTheLastRequestIsNotThatOfTheNext(t *testing.T) {
	r := fcgitest.New(t, fcgitest.Reply(200, "ok"))
	tr := newTransport(t, r, func(c *Config) {
		c.MaxIdle, c.FirstByteTimeout, c.BetweenBytesTimeout, c.WriteTimeout = 1, time.Hour, time.Hour, time.Hour
	})
	fetch(t, tr)
	kept := tr.idle.conns[0]
	kept.readBy, kept.writeBy = longAgo, longAgo
	kept.Conn.SetDeadline(longAgo)
	if _, body := fetch(t, tr); body != "ok" || r.Conns() != 1 {
		t.Errorf("body %q over %d connections, want ok over the kept one", body, r.Conns())
	}
}
