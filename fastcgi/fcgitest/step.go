package fcgitest

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
)

// Step is one thing that a responder does. BEGIN_REQUEST and params are always read before the first one; STDIN is
// too, to its end, unless the script has a step that reads. After a script that has read all and sent END_REQUEST the
// connection serves the next request if its client asked for that; after any other it is closed.
type Step struct {
	do    func(*exchange) error
	reads bool
}

func step(do func(*exchange) error) Step { return Step{do: do} }

// Stdout sends s as STDOUT records.
func Stdout(s string) Step {
	return step(func(x *exchange) error { return x.stream(TypeStdout, s) })
}

// Stderr sends s as STDERR records.
func Stderr(s string) Step {
	return step(func(x *exchange) error { return x.stream(TypeStderr, s) })
}

// Echo sends what answer makes of the request as STDOUT: header, blank line and body.
func Echo(answer func(Request) string) Step {
	return step(func(x *exchange) error { return x.stream(TypeStdout, answer(*x.req)) })
}

// End sends END_REQUEST.
func End(appStatus uint32, protocolStatus byte) Step {
	return step(func(x *exchange) error { return x.end(appStatus, protocolStatus) })
}

// Reply sends a whole plain text answer and END_REQUEST in one piece.
func Reply(status int, body string) Step {
	head := fmt.Sprintf("Status: %d %s\r\nContent-Type: text/plain\r\n\r\n", status, http.StatusText(status))
	return step(func(x *exchange) error {
		x.ended = true
		return x.send(Record{Type: TypeStdout, ID: x.req.ID, Content: []byte(head + body)}, x.endRecord(0, 0))
	})
}

// Record is a record of any shape. A zero Version means 1; a zero ID, unless Management is set, that of the request.
type Record struct {
	Version, Type byte
	ID            uint16
	Management    bool
	Content       []byte
	Padding       byte
}

// Append appends the record's bytes to b.
func (r Record) Append(b []byte) []byte {
	if r.Version == 0 {
		r.Version = 1
	}
	b = append(b, r.Version, r.Type)
	b = binary.BigEndian.AppendUint16(b, r.ID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Content)))
	b = append(b, r.Padding, 0)
	b = append(b, r.Content...)
	return append(b, make([]byte, r.Padding)...)
}

// Send sends records as they are, in one piece.
func Send(records ...Record) Step {
	return step(func(x *exchange) error {
		var b []byte
		for _, rec := range records {
			if rec.ID == 0 && !rec.Management {
				rec.ID = x.req.ID
			}
			b = rec.Append(b)
		}
		_, err := x.conn.Write(b)
		return err
	})
}

// Raw sends bytes that need not be records.
func Raw(b []byte) Step {
	return step(func(x *exchange) error {
		_, err := x.conn.Write(b)
		return err
	})
}

// Cut closes the connection.
func Cut() Step {
	return step(func(x *exchange) error {
		x.conn.Close()
		return net.ErrClosed
	})
}

// Reset closes a TCP connection with RST; any other is cut.
func Reset() Step {
	return step(func(x *exchange) error {
		if tcp, ok := x.conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		x.conn.Close()
		return net.ErrClosed
	})
}

// Hang waits until the channel is closed, or the responder is. A nil channel waits for the latter.
func Hang(until <-chan struct{}) Step {
	return step(func(x *exchange) error {
		select {
		case <-until:
			return nil
		case <-x.r.stop:
			return net.ErrClosed
		}
	})
}

// Call runs f.
func Call(f func()) Step {
	return step(func(*exchange) error {
		f()
		return nil
	})
}

// AwaitClose reads, and throws away, until the other side has closed the connection.
func AwaitClose() Step { return step((*exchange).awaitClose) }

// ReadParams does nothing but leave STDIN unread, which a script without any reading step would begin with.
func ReadParams() Step {
	return Step{do: func(*exchange) error { return nil }, reads: true}
}

// ReadStdin reads STDIN to its end.
func ReadStdin() Step {
	return Step{do: func(x *exchange) error { return x.readStdin(-1) }, reads: true}
}

// ReadStdinBytes reads STDIN until there are n bytes of it or more.
func ReadStdinBytes(n int) Step {
	return Step{do: func(x *exchange) error { return x.readStdin(n) }, reads: true}
}
