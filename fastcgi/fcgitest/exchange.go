package fcgitest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
)

// exchange is one request on a connection and the script that answers it.
type exchange struct {
	r      *Responder
	conn   net.Conn
	number int
	req    *Request
	ended  bool // END_REQUEST was sent
}

func (x *exchange) run() error {
	if err := x.readParams(); err != nil {
		return err
	}
	script := x.r.claim()
	reads := func(s Step) bool { return s.reads }
	if !slices.ContainsFunc(script, reads) {
		if err := x.readStdin(-1); err != nil {
			return err
		}
	}
	for _, step := range script {
		if err := step.do(x); err != nil {
			return err
		}
	}
	return nil
}

// readParams reads BEGIN_REQUEST and all params.
func (x *exchange) readParams() error {
	begin, err := ReadRecord(x.conn)
	if err != nil {
		return err
	}
	if begin.Type != TypeBegin || len(begin.Content) != 8 {
		return fmt.Errorf("%w: it begins with type %d of %d bytes", errBroken, begin.Type, len(begin.Content))
	}
	x.req = &Request{Conn: x.number, ID: begin.ID}
	x.req.Role = binary.BigEndian.Uint16(begin.Content)
	x.req.KeepConn = begin.Content[2]&1 != 0
	for {
		rec, err := x.read(TypeParams)
		if err != nil {
			return err
		}
		if len(rec.Content) == 0 {
			break
		}
		params, err := ParseParams(rec.Content)
		if err != nil {
			return err
		}
		x.req.Params = append(x.req.Params, params...)
		x.req.Records = append(x.req.Records, len(rec.Content))
	}
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.requests = append(x.r.requests, x.req)
	return nil
}

// readStdin reads STDIN until there are n bytes of it, or to its end if n is negative.
func (x *exchange) readStdin(n int) error {
	for !x.req.Whole && (n < 0 || len(x.req.Stdin) < n) {
		rec, err := x.read(TypeStdin)
		if err != nil {
			return err
		}
		x.r.mu.Lock()
		x.req.Stdin = append(x.req.Stdin, rec.Content...)
		x.req.Whole = len(rec.Content) == 0
		x.r.mu.Unlock()
	}
	return nil
}

func (x *exchange) read(typ byte) (Record, error) {
	rec, err := ReadRecord(x.conn)
	if err == nil && (rec.Type != typ || rec.ID != x.req.ID || rec.Version != 1) {
		err = fmt.Errorf("%w: got version %d, type %d, id %d where type %d was due", errBroken,
			rec.Version, rec.Type, rec.ID, typ)
	}
	return rec, err
}

// stream sends s as records of one type.
func (x *exchange) stream(typ byte, s string) error {
	for chunk := range slices.Chunk([]byte(s), 65528) {
		if err := x.send(Record{Type: typ, ID: x.req.ID, Content: chunk}); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) send(records ...Record) error {
	var b []byte
	for _, rec := range records {
		b = rec.Append(b)
	}
	_, err := x.conn.Write(b)
	return err
}

func (x *exchange) end(appStatus uint32, protocolStatus byte) error {
	x.ended = true
	return x.send(x.endRecord(appStatus, protocolStatus))
}

func (x *exchange) endRecord(appStatus uint32, protocolStatus byte) Record {
	content := binary.BigEndian.AppendUint32(nil, appStatus)
	return Record{Type: TypeEnd, ID: x.req.ID, Content: append(content, protocolStatus, 0, 0, 0)}
}

// awaitClose reads until the other side has closed, or reset, the connection.
func (x *exchange) awaitClose() error {
	if _, err := io.Copy(io.Discard, x.conn); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
