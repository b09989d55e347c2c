package upstream

import "time"

// waiter is a request's place in the queue, and what is asked when its turn comes.
type waiter struct {
	key      uint64 // for the hash policy
	avoid    []*backend
	arrived  time.Time // its body was complete
	deadline time.Time
	ready    chan turn

	insists  bool // it rather waits for another backend than takes one of avoid
	strays   bool // it takes one that is kept out when all others are of avoid
	leaves   bool // it does not wait for a group of which nothing can be reached
	extended bool // the deadline is later than that of others who arrived with it

	queued     bool
	prev, next *waiter
}

// turn is how waiting ends: with a backend, of which a slot has been taken, or with none for the reason that err is.
type turn struct {
	b   *backend
	err error
}

// queue holds waiters in the order in which their requests arrived. One that comes back after a failed
// attempt finds its old place, near the front.
type queue struct {
	first, last *waiter
	length      int
}

// insert looks for the place from the end: a newcomer's is there. One that comes back has to pass everybody
// who came after it, which is worth it, for it is rare and the others have waited less.
func (q *queue) insert(w *waiter) {
	after := q.last
	for after != nil && w.arrived.Before(after.arrived) {
		after = after.prev
	}
	w.prev, w.queued = after, true
	if after == nil {
		w.next, q.first = q.first, w
	} else {
		w.next, after.next = after.next, w
	}
	if w.next == nil {
		q.last = w
	} else {
		w.next.prev = w
	}
	q.length++
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	q.length--
}
