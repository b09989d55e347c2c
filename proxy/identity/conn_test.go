package identity

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pair returns both ends of a connection over loopback, the second with a header to be read.
func pair(t *testing.T, cfg ConnConfig) (net.Conn, *Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn := NewConn(accepted, cfg)
	t.Cleanup(func() { client.Close(); conn.Close() })
	return client, conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func TestConnHasTheAddressesOfItsHeader(t *testing.T) {
	client, conn := pair(t, ConnConfig{})
	send(t, client, v2(0x21, 0x11, addresses4+strings.Repeat("\x04\x00\x00", 1000))+"hello")
	client.Close()
	if got := conn.RemoteAddr().String(); got != "1.2.3.4:12345" {
		t.Errorf("remote = %s", got)
	}
	if got := conn.LocalAddr().String(); got != "5.6.7.8:443" {
		t.Errorf("local = %s", got)
	}
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestConnOfTheProxyItselfKeepsItsAddresses(t *testing.T) {
	client, conn := pair(t, ConnConfig{Admit: func(netip.Addr) (func(), bool) { return nil, false }})
	send(t, client, "PROXY UNKNOWN\r\nhello")
	client.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if got, want := conn.RemoteAddr().String(), client.LocalAddr().String(); got != want {
		t.Errorf("remote = %s, want %s", got, want)
	}
}

func TestConnWithoutAHeaderFails(t *testing.T) {
	client, conn := pair(t, ConnConfig{})
	send(t, client, "GET / HTTP/1.1\r\n")
	if got, want := conn.RemoteAddr().String(), client.LocalAddr().String(); got != want {
		t.Errorf("remote = %s, want %s", got, want)
	}
	if n, err := conn.Read(make([]byte, 10)); n != 0 || !errors.Is(err, errNoHeader) {
		t.Errorf("read %d bytes, %v; want %v", n, err, errNoHeader)
	}
}

func TestConnWaitsForItsHeaderOnlySoLong(t *testing.T) {
	client, conn := pair(t, ConnConfig{Timeout: 300 * time.Millisecond})
	send(t, client, "PROXY TCP4 1.2.3.4")
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 10))
		ended <- err
	}()
	for reading := false; !reading; runtime.Gosched() {
		conn.mu.Lock()
		reading = conn.reading
		conn.mu.Unlock()
	}
	// A deadline of the server's own does not prolong the wait.
	conn.SetDeadline(time.Now().Add(time.Hour))
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v, want a deadline", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the header is still waited for")
	}
}

// The deadline that a server sets before it reads holds after the header, too.
func TestConnKeepsTheDeadlineOfItsServer(t *testing.T) {
	client, conn := pair(t, ConnConfig{Timeout: 20 * time.Second})
	conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	send(t, client, "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n")
	conn.RemoteAddr()
	begun := time.Now()
	if _, err := conn.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("read: %v after %s, want a deadline of 200ms", err, time.Since(begun))
	}
}

func TestConnIsAdmittedByTheClientsAddress(t *testing.T) {
	var asked netip.Addr
	released := 0
	client, conn := pair(t, ConnConfig{Admit: func(addr netip.Addr) (func(), bool) {
		asked = addr
		return func() { released++ }, true
	}})
	send(t, client, "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n")
	conn.RemoteAddr()
	conn.Close()
	conn.Close()
	if asked != netip.MustParseAddr("1.2.3.4") || released != 1 {
		t.Errorf("asked for %s, released %d times; want 1.2.3.4, once", asked, released)
	}
}

func TestConnThatIsRefusedReadsNothing(t *testing.T) {
	client, conn := pair(t, ConnConfig{Admit: func(netip.Addr) (func(), bool) { return nil, false }})
	send(t, client, "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\n\r\n")
	if n, err := conn.Read(make([]byte, 10)); n != 0 || !errors.Is(err, errRefused) {
		t.Errorf("read %d bytes, %v; want %v", n, err, errRefused)
	}
}

func TestConnCanBeClosedWhileItsHeaderIsWaitedFor(t *testing.T) {
	_, conn := pair(t, ConnConfig{Timeout: time.Minute})
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 10))
		ended <- err
	}()
	conn.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("read: %v, want %v", err, net.ErrClosed)
	}
}
