package http1

import (
	"io"
	"net"
	"sync"
)

// inputSize is what a connection reads into: most heads fit.
const inputSize = 4 << 10

var inputs = sync.Pool{New: func() any { return new([inputSize]byte) }}

// input is what has come on a connection and has not been taken yet. While that is nothing, there is no buffer.
type input struct {
	nc      net.Conn
	waiter  *waiter // nil where a connection cannot be waited for without a buffer
	pooled  *[inputSize]byte
	buf     []byte // of pooled, or a larger one
	from    int    // of what is left in buf
	to      int
	readErr error // of a read that gave bytes as well
}

// waiting returns what has come and not been taken. It is good until the next call of any method.
func (in *input) waiting() []byte { return in.buf[in.from:in.to] }

func (in *input) empty() bool { return in.from == in.to }

func (in *input) take(n int) {
	in.from += n
	if in.from == in.to {
		in.from, in.to = 0, 0
	}
}

// release gives the buffer back when it holds nothing.
func (in *input) release() {
	if !in.empty() || in.buf == nil {
		return
	}
	if in.pooled != nil {
		inputs.Put(in.pooled)
	}
	in.pooled, in.buf, in.from, in.to = nil, nil, 0, 0
}

// drop gives the buffer back, whatever it holds.
func (in *input) drop() {
	in.from, in.to = 0, 0
	in.release()
}

func (in *input) ensure() {
	if in.buf == nil {
		in.pooled = inputs.Get().(*[inputSize]byte)
		in.buf = in.pooled[:]
	}
}

// await reads the first bytes of what comes next; until they come, no buffer is held.
func (in *input) await() error {
	if in.readErr != nil {
		return in.readErr
	}
	in.release()
	if in.waiter != nil {
		return in.waiter.await(in)
	}
	return in.more(inputSize)
}

// more reads once, behind what is there, and makes room for that: up to limit bytes in all. It returns io.ErrShortBuffer
// when there are as many already.
func (in *input) more(limit int) error {
	if in.readErr != nil {
		return in.readErr
	}
	in.ensure()
	if err := in.room(limit); err != nil {
		return err
	}
	n, err := in.nc.Read(in.buf[in.to:])
	in.to += n
	if n > 0 {
		in.readErr = err
		return nil
	}
	return err
}

// room makes sure that buf has space behind what is there.
func (in *input) room(limit int) error {
	if in.to < len(in.buf) {
		return nil
	}
	have := in.to - in.from
	if have >= limit {
		return io.ErrShortBuffer
	}
	if in.from == 0 {
		larger := make([]byte, min(2*len(in.buf), max(limit, inputSize)))
		copy(larger, in.waiting())
		if in.pooled != nil {
			inputs.Put(in.pooled)
			in.pooled = nil
		}
		in.buf = larger
	} else {
		copy(in.buf, in.waiting())
	}
	in.from, in.to = 0, have
	return nil
}

// read is Read of what follows: first what is there, then straight from the connection.
func (in *input) read(p []byte) (int, error) {
	if !in.empty() {
		n := copy(p, in.waiting())
		in.take(n)
		return n, nil
	}
	if in.readErr != nil {
		return 0, in.readErr
	}
	return in.nc.Read(p)
}
