package proxy

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// readAhead is how many bytes an HTTP/2 connection reads at once: frames are small, and net/http asks for the head of
// each by itself.
const readAhead = 4 << 10

// http2Conn is a connection whose client has chosen HTTP/2, as net/http's server gets it: as one without TLS, whatever
// it is, so that all of them can be watched.
type http2Conn struct {
	net.Conn
	tls         *tls.ConnectionState // nil for cleartext
	guard       *http2Guard          // nil for trusted proxies, whose connections are those of all clients
	headTimeout time.Duration
	refused     func(error) // told why the connection has to end
	once        sync.Once

	ahead  []byte // read and not yet asked for
	buffer [readAhead]byte
	timed  int // the head that has a deadline
}

// Read returns what has been read ahead, or reads.
func (c *http2Conn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	if len(p) >= readAhead {
		return c.fill(p)
	}
	n, err := c.fill(c.buffer[:])
	done := copy(p, c.buffer[:n])
	c.ahead = c.buffer[done:n]
	return done, err
}

// fill reads from the client. A head that has begun has to end in time.
func (c *http2Conn) fill(p []byte) (int, error) {
	if c.guard == nil {
		return c.Conn.Read(p)
	}
	if head := c.guard.unfinished(); head != c.timed {
		c.timed = head
		deadline := time.Time{}
		if head != 0 {
			deadline = time.Now().Add(c.headTimeout)
		}
		_ = c.Conn.SetReadDeadline(deadline) // fails on a closed connection only, as the read will
	}
	n, err := c.Conn.Read(p)
	if n == 0 {
		return 0, err
	}
	if fault := c.guard.read(p[:n], time.Now()); fault != nil {
		c.refuse(fault)
		return 0, fault
	}
	return n, err
}

// Write sends p.
func (c *http2Conn) Write(p []byte) (int, error) {
	if c.guard != nil {
		if fault := c.guard.wrote(p, time.Now()); fault != nil {
			c.refuse(fault)
			return 0, fault
		}
	}
	return c.Conn.Write(p)
}

func (c *http2Conn) refuse(fault error) {
	c.once.Do(func() { c.refused(fault) })
	c.Conn.Close()
}
