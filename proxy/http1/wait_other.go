//go:build !unix

package http1

import "net"

// waiter is not to be had here.
type waiter struct{}

func newWaiter(*net.TCPConn) *waiter { return nil }

// hasMore cannot be told here.
func hasMore(*net.TCPConn) bool { return true }

func (*waiter) await(*input) error { panic("http1: no waiter") }
