package fastcgi

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http/httptrace"
	"syscall"
	"time"
)

// conn is a connection to the backend, and with FPM a worker.
type conn struct {
	net.Conn
	reused bool
	since  time.Time // when it became idle

	readBy, writeBy time.Time // the deadlines that are set; guarded by the mu of the call that has the connection
}

// dialer makes connections to one address.
type dialer struct {
	network, address string
	unix             *net.UnixAddr // nil for TCP
	net              net.Dialer
}

// newDialer refuses an address that no dial could succeed with.
func newDialer(network, address string, timeout time.Duration) (*dialer, error) {
	d := &dialer{network: network, address: address, net: net.Dialer{Timeout: timeout}}
	switch network {
	case "tcp", "tcp4", "tcp6":
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, err
		}
	case "unix":
		if address == "" {
			return nil, errors.New("empty path of a unix socket")
		}
		d.unix = &net.UnixAddr{Name: address, Net: network}
	default:
		return nil, net.UnknownNetworkError(network)
	}
	return d, nil
}

// dial ends with ctx. The hooks of a TCP dial are called by package net.
func (d *dialer) dial(ctx context.Context, trace *httptrace.ClientTrace) (*conn, error) {
	if d.unix != nil {
		return d.dialUnix(trace)
	}
	c, err := d.net.DialContext(ctx, d.network, d.address)
	if err != nil {
		return nil, bare(err)
	}
	return &conn{Conn: c}, nil
}

// dialUnix needs no deadline: connecting to a unix socket never waits, it fails when the backlog is full.
func (d *dialer) dialUnix(trace *httptrace.ClientTrace) (*conn, error) {
	if trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart(d.network, d.address)
	}
	c, err := connectUnix(d.unix)
	if trace != nil && trace.ConnectDone != nil {
		trace.ConnectDone(d.network, d.address, err)
	}
	if err != nil {
		return nil, bare(err)
	}
	return &conn{Conn: c}, nil
}

// bare takes off what our own Error says anyway.
func bare(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if op, ok := errors.AsType[*fs.PathError](err); ok {
		return op.Err
	}
	return err
}

// silent reports whether nothing has come from the other side, not even its close: then it can be used again.
func (c *conn) silent() bool {
	sys, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Control(func(fd uintptr) { silent = nothingToRead(fd) })
	return err == nil && silent
}
