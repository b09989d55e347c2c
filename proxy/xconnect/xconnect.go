// Package xconnect makes net/http announce extended CONNECT, by which WebSockets come over HTTP/2 (RFC 8441). It is
// imported for that alone.
package xconnect

import "os"

// net/http reads GODEBUG once, while it is initialised, and there is no other way to ask for it. Packages are initialised
// in the order of their import paths, as far as imports allow: this one, which imports os only, comes before net/http. A
// test of the proxy fails should that no longer be so.
func init() {
	setting := "http2xconnect=1"
	if others := os.Getenv("GODEBUG"); others != "" {
		setting = others + "," + setting
	}
	os.Setenv("GODEBUG", setting)
}
