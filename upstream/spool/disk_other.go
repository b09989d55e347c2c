//go:build !linux

package spool

import (
	"errors"
	"os"
)

// freeBytes cannot tell here; the limit of the budget has to do.
func freeBytes(*os.File) int64 { return unknownFree }

// punch cannot give back a part of a file here: its blocks stay until it is emptied.
func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }
