package identity

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ConnConfig is what a Conn is made with.
type ConnConfig struct {
	// Timeout bounds the wait for the whole header. Zero means 5 s.
	Timeout time.Duration
	// Admit is asked once with the address in the header, and may refuse the connection. What it returns is called
	// once when an admitted connection is closed. Nil admits all.
	Admit func(netip.Addr) (release func(), ok bool)
}

const headerTimeout = 5 * time.Second

var errRefused = errors.New("too many connections from the client's address")

// Conn is a connection from a trusted proxy that begins with a PROXY protocol header. The header is read by the first
// Read, LocalAddr or RemoteAddr, which therefore belong into a goroutine of the connection's own. Afterwards both
// addresses are those in the header. A connection without a header fails at its first Read.
type Conn struct {
	net.Conn
	cfg    ConnConfig
	opened sync.Once
	err    error    // of the header
	rest   []byte   // came with the header and is still to be read
	local  net.Addr // nil: as the connection says
	remote net.Addr

	mu       sync.Mutex // guards what follows
	reading  bool       // the header is being read, under a deadline of its own
	deadline time.Time  // for reading, as others set it
	closed   bool
	release  func()
}

// NewConn returns conn with its header still to be read.
func NewConn(conn net.Conn, cfg ConnConfig) *Conn {
	if cfg.Timeout == 0 {
		cfg.Timeout = headerTimeout
	}
	return &Conn{Conn: conn, cfg: cfg}
}

// NetConn returns the connection below.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr returns the address of the client.
func (c *Conn) RemoteAddr() net.Addr {
	if c.opened.Do(c.open); c.remote != nil {
		return c.remote
	}
	return c.Conn.RemoteAddr()
}

// LocalAddr returns the address that the client came to.
func (c *Conn) LocalAddr() net.Addr {
	if c.opened.Do(c.open); c.local != nil {
		return c.local
	}
	return c.Conn.LocalAddr()
}

// Read reads what follows the header.
func (c *Conn) Read(p []byte) (int, error) {
	c.opened.Do(c.open)
	if c.err != nil {
		return 0, c.err
	}
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		if c.rest = c.rest[n:]; len(c.rest) == 0 {
			c.rest = nil
		}
		return n, nil
	}
	return c.Conn.Read(p)
}

// ReadFrom lets a file leave by sendfile where the connection below can do so.
func (c *Conn) ReadFrom(src io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(src)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, src)
}

// CloseWrite ends the sending side.
func (c *Conn) CloseWrite() error {
	if to, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return to.CloseWrite()
	}
	return c.Close()
}

// Close closes the connection, also while the header is waited for.
func (c *Conn) Close() error {
	c.mu.Lock()
	release := c.release
	c.closed, c.release = true, nil
	c.mu.Unlock()
	if release != nil {
		release()
	}
	return c.Conn.Close()
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline takes effect once the header is read.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline = t; c.reading {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// open reads the header and asks whether its client may come in.
func (c *Conn) open() {
	header, err := c.readHeader()
	if err != nil {
		c.err = fmt.Errorf("%s: %w", c.Conn.RemoteAddr(), err)
		return
	}
	if !header.source.IsValid() {
		return
	}
	c.remote, c.local = net.TCPAddrFromAddrPort(header.source), net.TCPAddrFromAddrPort(header.destination)
	if c.cfg.Admit == nil {
		return
	}
	release, ok := c.cfg.Admit(header.source.Addr())
	if !ok {
		c.err = errRefused
		return
	}
	c.mu.Lock()
	closed := c.closed
	c.release = release
	c.mu.Unlock()
	if closed {
		c.Close()
	}
}

func (c *Conn) readHeader() (proxyHeader, error) {
	if err := c.headerDeadline(); err != nil {
		return proxyHeader{}, err
	}
	defer c.restoreDeadline()
	var b []byte
	piece := make([]byte, 512)
	for {
		n, err := c.Conn.Read(piece)
		b = append(b, piece[:n]...)
		header, size, fault := parseProxyHeader(b)
		switch {
		case fault == nil:
			if size < len(b) {
				c.rest = b[size:]
			}
			return header, nil
		case fault != errShort:
			return proxyHeader{}, fault
		case err != nil:
			return proxyHeader{}, fmt.Errorf("read the PROXY protocol header: %w", err)
		}
	}
}

func (c *Conn) headerDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = true
	return c.Conn.SetReadDeadline(time.Now().Add(c.cfg.Timeout))
}

func (c *Conn) restoreDeadline() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	// A connection that takes no deadline any more is closed, and says so at the next read.
	_ = c.Conn.SetReadDeadline(c.deadline)
}
