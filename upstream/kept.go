package upstream

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"gateway/upstream/spool"
)

// kept is the body of a request that has been read to its end. It is freed when nobody uses it any more: neither the
// request itself, nor any reader that a transport has not closed.
type kept struct {
	*spool.Spool
	users atomic.Int32
}

func keep(s *spool.Spool) *kept {
	k := &kept{Spool: s}
	k.users.Store(1)
	return k
}

func (k *kept) letGo() {
	if k.users.Add(-1) == 0 {
		k.Spool.Close()
	}
}

// replay is the body of one attempt.
type replay struct {
	*spool.Reader
	kept   *kept
	closed atomic.Bool
}

func (k *kept) replay() *replay {
	k.users.Add(1)
	return &replay{Reader: k.NewReader(), kept: k}
}

func (r *replay) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	err := r.Reader.Close()
	r.kept.letGo()
	return err
}

// unsent is what a group has of a request that it could not send: the body of the same request to another group,
// which takes it as it is. Anyone else may read it as any body.
type unsent struct {
	body   *kept // nil when there is none, or once it has been taken
	reader *replay
	resent bool // a backend had it, and the second attempt, the last, is still to come
}

// mayLeave has err bring what c holds to another group, if there is one and the request could not be sent.
func (c *call) mayLeave(err error) {
	var e *Error
	if !c.waiter.leaves || !errors.Is(err, ErrUnreachable) || !errors.As(err, &e) {
		return
	}
	c.left, e.elsewhere = true, true
	if !c.upgrade {
		e.unsent = &unsent{body: c.body, resent: c.resent}
	}
}

// take returns the body, or nil when there is none, and leaves none.
func (u *unsent) take() *kept {
	body := u.body
	u.body = nil
	return body
}

// Read implements io.Reader.
func (u *unsent) Read(p []byte) (int, error) {
	if u.body == nil {
		return 0, io.EOF
	}
	if u.reader == nil {
		u.reader = u.body.replay()
	}
	return u.reader.Read(p)
}

// Close frees the body, unless a group has taken it.
func (u *unsent) Close() error {
	if u.reader != nil {
		u.reader.Close()
	}
	if body := u.take(); body != nil {
		body.letGo()
	}
	return nil
}

// Elsewhere returns the request to give to another group when that of r, made WithFallback, could not reach any
// backend. It has the body that was read off the client, which is to be sent or closed. For every other error there
// is none: something of r may have reached the application, or the group has merely too much to do.
func Elsewhere(r *http.Request, err error) (again *http.Request, ok bool) {
	var e *Error
	if !errors.As(err, &e) || !e.elsewhere {
		return nil, false
	}
	again = r.WithContext(r.Context())
	if e.unsent != nil {
		again.Body, again.ContentLength = e.unsent, 0
		if e.unsent.body != nil {
			again.ContentLength = e.unsent.body.Len()
		}
	}
	return again, true
}
