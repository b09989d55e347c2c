package fastcgi

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"gateway/fastcgi/fcgitest"
)

// FuzzAnswer has a responder send arbitrary bytes, and compares what is made of them when the body is read in large
// pieces and in single bytes.
func FuzzAnswer(f *testing.F) {
	rec := func(typ byte, content string, padding byte) []byte {
		return fcgitest.Record{Type: typ, ID: 1, Content: []byte(content), Padding: padding}.Append(nil)
	}
	end := rec(typeEnd, "\x00\x00\x00\x00\x00\x00\x00\x00", 0)
	f.Add(bytes.Join([][]byte{rec(typeStdout, "Status: 201 Made\r\n\r\nbody", 3), end}, nil))
	f.Add(bytes.Join([][]byte{rec(typeStdout, "A: b\r\n", 0), rec(typeStderr, "oops\n", 1), rec(typeStdout, "\r\nbody", 0), end}, nil))
	f.Add(bytes.Join([][]byte{rec(typeStdout, "Content-Length: 3\r\n\r\n", 0), rec(typeStdout, "12", 0), rec(typeStdout, "34", 0), end}, nil))
	f.Add(bytes.Join([][]byte{rec(typeStdout, "Status: 204\n\nstray", 255), rec(typeStdout, "", 0), end, end}, nil))
	f.Add(rec(typeStdout, "\n"+string(make([]byte, 40_000)), 7))
	f.Add(rec(typeEnd, "\x00\x00\x00\x00\x02\x00\x00\x00", 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := answerOf(t, b, func(r io.Reader) io.Reader { return r })
		single := answerOf(t, b, iotest.OneByteReader)
		if whole != single {
			t.Errorf("in large pieces %.300q, in single bytes %.300q", whole, single)
		}
	})
}

// answerOf describes what a call makes of the answer b.
func answerOf(t *testing.T, b []byte, slow func(io.Reader) io.Reader) string {
	tr, err := New(Config{Network: "unix", Address: "fuzz"})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	env := newEnv()
	c, err := tr.newCall(newRequestEnv(t, env, http.MethodGet, ""))
	if err != nil {
		t.Fatal(err)
	}
	c.conn = &conn{Conn: recording{Reader: bytes.NewReader(b)}}
	c.stream.reset(c)
	if err := c.readHeader(); err != nil {
		return fmt.Sprint(c.fail(err), env.Stderr())
	}
	body, err := io.ReadAll(slow(c.response.Body))
	c.response.Body.Close()
	return fmt.Sprint(c.response.Status, sorted(c.response.Header), c.response.ContentLength, string(body), err, env.Stderr())
}

// recording is a connection on which all has been said.
type recording struct {
	net.Conn
	io.Reader
}

func (r recording) Read(p []byte) (int, error)    { return r.Reader.Read(p) }
func (recording) SetReadDeadline(time.Time) error { return nil }
func (recording) Close() error                    { return nil }
