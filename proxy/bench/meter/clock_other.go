//go:build !linux

package meter

import "time"

func processClock(int) (time.Duration, error) { return 0, ErrNotAvailable }
