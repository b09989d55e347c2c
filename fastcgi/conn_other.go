//go:build !unix

package fastcgi

// nothingToRead cannot be told here without waiting, so no kept connection is used again.
func nothingToRead(uintptr) bool { return false }
