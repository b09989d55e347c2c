package fcgitest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

const patience = 10 * time.Second

func dial(t *testing.T, r *Responder) net.Conn {
	t.Helper()
	c, err := net.Dial(r.Network(), r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// ask writes a request with one param and stdin.
func ask(t *testing.T, c net.Conn, keep byte, stdin string) {
	t.Helper()
	b := Record{Type: TypeBegin, ID: 1, Content: []byte{0, 1, keep, 0, 0, 0, 0, 0}}.Append(nil)
	b = Record{Type: TypeParams, ID: 1, Content: []byte("\x01\x02Nok"), Padding: 3}.Append(b)
	b = Record{Type: TypeParams, ID: 1}.Append(b)
	if stdin != "" {
		b = Record{Type: TypeStdin, ID: 1, Content: []byte(stdin)}.Append(b)
	}
	b = Record{Type: TypeStdin, ID: 1}.Append(b)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, c net.Conn) Record {
	t.Helper()
	rec, err := ReadRecord(c)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestScriptsInTurnOnOneConnection(t *testing.T) {
	r := New(t, Stderr("e"), Stdout("one"), End(3, 2)).Then(Echo(func(r Request) string { return string(r.Stdin) }), End(0, 0))
	c := dial(t, r)
	ask(t, c, 1, "body")
	if rec := next(t, c); rec.Type != TypeStderr || string(rec.Content) != "e" {
		t.Errorf("record = %+v", rec)
	}
	if rec := next(t, c); rec.Type != TypeStdout || string(rec.Content) != "one" {
		t.Errorf("record = %+v", rec)
	}
	if rec := next(t, c); rec.Type != TypeEnd || binary.BigEndian.Uint32(rec.Content) != 3 || rec.Content[4] != 2 {
		t.Errorf("record = %+v", rec)
	}
	ask(t, c, 0, "second")
	if rec := next(t, c); string(rec.Content) != "second" {
		t.Errorf("record = %+v", rec)
	}
	next(t, c)
	if _, err := ReadRecord(c); err != io.EOF {
		t.Errorf("error after a request without keep = %v, want EOF", err)
	}
	got := r.Requests()
	if len(got) != 2 || got[0].Param("N") != "ok" || string(got[0].Stdin) != "body" || !got[0].Whole || got[1].KeepConn {
		t.Errorf("requests = %+v", got)
	}
	if got[1].Conn != 0 || r.Conns() != 1 || got[0].Records[0] != 5 {
		t.Errorf("connection %d of %d, records %v", got[1].Conn, r.Conns(), got[0].Records)
	}
}

func TestRecordsAsTheyAre(t *testing.T) {
	c := dial(t, New(t, Send(Record{Version: 9, Type: 77, ID: 5, Content: []byte("x"), Padding: 2}, Record{Management: true}), Raw([]byte("raw")), Cut()))
	ask(t, c, 0, "")
	b, err := io.ReadAll(c)
	want := "\x09\x4d\x00\x05\x00\x01\x02\x00x\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + "raw"
	if err != nil || string(b) != want {
		t.Errorf("read %q, %v, want %q", b, err, want)
	}
}

func TestResetOverTCP(t *testing.T) {
	c := dial(t, NewTCP(t, Reset()))
	ask(t, c, 0, "")
	if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error = %v, want a reset", err)
	}
}

func TestStdinIsLeftUnread(t *testing.T) {
	r := New(t, ReadParams(), Stdout("early"), ReadStdinBytes(2), Stdout("half"), ReadStdin(), Stdout("all"), Cut())
	c := dial(t, r)
	ask(t, c, 0, "abc")
	for _, want := range []string{"early", "half", "all"} {
		if rec := next(t, c); string(rec.Content) != want {
			t.Errorf("record = %q, want %q", rec.Content, want)
		}
	}
}

func TestHangEndsWithItsChannelOrTheResponder(t *testing.T) {
	until, ended := make(chan struct{}), make(chan struct{})
	r := New(t, Hang(until), Reply(204, ""), AwaitClose(), Call(func() { close(ended) })).Then(Hang(nil))
	c := dial(t, r)
	ask(t, c, 1, "")
	close(until)
	next(t, c)
	c.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("AwaitClose did not see the close")
	}
	c = dial(t, r)
	ask(t, c, 0, "")
	r.Close()
	io.Copy(io.Discard, c)
}

// failures is a test that is meant to fail.
type failures struct {
	testing.TB
	failed chan struct{}
}

func (f failures) Errorf(string, ...any) { close(f.failed) }

func TestBrokenRequestFailsTheTest(t *testing.T) {
	split := Record{Type: TypeBegin, ID: 1, Content: make([]byte, 8)}.Append(nil)
	split = Record{Type: TypeParams, ID: 1, Content: []byte("\x01\x05Nhal")}.Append(split)
	for name, b := range map[string][]byte{
		"does not begin":  Record{Type: TypeParams, ID: 1}.Append(nil),
		"splits a pair":   split,
		"changes the id":  Record{Type: TypeParams, ID: 2}.Append(split[:16:16]),
		"skips to STDIN":  Record{Type: TypeStdin, ID: 1}.Append(split[:16:16]),
		"of version zero": append(split[:16:16], 0, TypeParams, 0, 1, 0, 0, 0, 0),
	} {
		f := failures{TB: t, failed: make(chan struct{})}
		c := dial(t, New(f, Reply(200, "")))
		c.Write(b)
		select {
		case <-f.failed:
		case <-time.After(patience):
			t.Errorf("a request that %s passed", name)
		}
	}
}

func TestLateConnectionIsClosed(t *testing.T) {
	r := New(t, Reply(200, ""))
	r.Close()
	ours, theirs := net.Pipe()
	if _, ok := r.track(theirs); ok {
		t.Error("a connection after Close is served")
	}
	if _, err := ours.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("error = %v, want EOF", err)
	}
}

func TestFullBacklog(t *testing.T) {
	path, drain := FullBacklog(t)
	if _, err := net.Dial("unix", path); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("error = %v, want EAGAIN", err)
	}
	drain()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func FuzzParseParams(f *testing.F) {
	f.Add([]byte("\x01\x02Nok"))
	f.Add([]byte("\x01"))
	f.Add([]byte("\x80\x00\x00\x01\x01Nv"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xffN"))
	f.Fuzz(func(t *testing.T, b []byte) {
		params, err := ParseParams(b)
		size := 0
		for _, p := range params {
			size += 2 + len(p.Name) + len(p.Value)
		}
		if size > len(b) || err == nil && size == 0 && len(b) > 0 {
			t.Errorf("%d bytes became %d params of %d bytes, error %v", len(b), len(params), size, err)
		}
	})
}
