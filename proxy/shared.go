package proxy

import "sync/atomic"

// shared is something that several states have in common because their configuration of it is the same: a
// reload must not touch it. It is closed when the last state that has it is done.
type shared[T any] struct {
	value T
	refs  atomic.Int64
	free  func(T)
}

// share returns value with one reference.
func share[T any](value T, free func(T)) *shared[T] {
	s := &shared[T]{value: value, free: free}
	s.refs.Store(1)
	return s
}

// retain adds a reference, unless the last one is gone already.
func (s *shared[T]) retain() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives a reference back.
func (s *shared[T]) release() {
	if s.refs.Add(-1) == 0 {
		s.free(s.value)
	}
}
