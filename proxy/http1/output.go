package http1

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// outputSize is what gathers before it is sent: the head and a short body.
const outputSize = 4 << 10

var outputs = sync.Pool{New: func() any { return new([outputSize]byte) }}

// output is what is to be sent next. It may grow beyond its size for a large head.
type output struct {
	nc     net.Conn
	socket *net.TCPConn // nil where nc is none
	pooled *[outputSize]byte
	buf    []byte
	order  []string // names of fields; only to use the slice again
	failed error    // of the first write that did not go out whole: whatever followed it would be out of place
}

func (o *output) ensure() {
	if o.buf == nil {
		o.pooled = outputs.Get().(*[outputSize]byte)
		o.buf = o.pooled[:0]
	}
}

// room is how many bytes can be added before some must be sent.
func (o *output) room() int { return outputSize - len(o.buf) }

func (o *output) text(s string) {
	o.ensure()
	o.buf = append(o.buf, s...)
}

func (o *output) number(n int64, base int) {
	o.ensure()
	o.buf = strconv.AppendInt(o.buf, n, base)
}

func (o *output) statusLine(minor, status int) {
	if minor > 0 {
		o.text("HTTP/1.1 ")
	} else {
		o.text("HTTP/1.0 ")
	}
	o.text(statusLines[status%len(statusLines)])
}

// fields writes h in the order of its names, less what is about the connection and what is no field. A byte that could
// end a value becomes a space.
func (o *output) fields(h http.Header) {
	order := o.order[:0]
	for name := range h {
		if !isOurs(name) && isTokenString(name) {
			order = append(order, name)
		}
	}
	slices.Sort(order)
	for _, name := range order {
		for _, value := range h[name] {
			o.text(name)
			o.text(": ")
			o.value(value)
			o.text("\r\n")
		}
	}
	o.order = order
}

func (o *output) value(s string) {
	begin := len(o.buf)
	o.text(s)
	if isFieldValue(s) {
		return
	}
	for i, c := range o.buf[begin:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			o.buf[begin+i] = ' '
		}
	}
}

// write adds p, or sends it along with what is there.
func (o *output) write(p []byte) error {
	if len(p) <= o.room() {
		o.ensure()
		o.buf = append(o.buf, p...)
		return nil
	}
	if o.socket == nil {
		// Without writev each write is a record of its own, so the first one is filled.
		n := max(o.room(), 0)
		o.ensure()
		o.buf, p = append(o.buf, p[:n]...), p[n:]
		if err := o.flush(); err != nil {
			return err
		}
		_, o.failed = o.nc.Write(p)
		return o.failed
	}
	if o.failed == nil {
		both := net.Buffers{o.buf, p}
		_, o.failed = both.WriteTo(o.socket)
	}
	o.buf = o.buf[:0]
	return o.failed
}

// chunk adds p as a chunk. Its last bytes may wait for what comes next.
func (o *output) chunk(p []byte) error {
	if len(p) == 0 {
		return nil // it would say that it was the last
	}
	o.number(int64(len(p)), 16)
	o.text("\r\n")
	if err := o.write(p); err != nil {
		return err
	}
	o.text("\r\n")
	return nil
}

// flush sends what is there.
func (o *output) flush() error {
	if o.failed == nil && len(o.buf) > 0 {
		_, o.failed = o.nc.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.failed
}

// release gives the buffer back. What is in it is lost.
func (o *output) release() {
	if o.pooled != nil {
		outputs.Put(o.pooled)
	}
	o.pooled, o.buf = nil, nil
}
