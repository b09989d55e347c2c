package http1

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dated is a Date and the second in which it is right.
type dated struct {
	second int64
	text   string
}

var today atomic.Pointer[dated]

// date returns the Date of now.
func date() string {
	now := time.Now()
	d := today.Load()
	if second := now.Unix(); d == nil || d.second != second {
		d = &dated{second, now.UTC().Format(http.TimeFormat)}
		today.Store(d)
	}
	return d.text
}
