package proxy

import (
	"net/http"

	"gateway/conf"
	"gateway/proxy/certs"
	"gateway/proxy/limit"
	"gateway/proxy/observe"
)

// state is one configuration, built. A request stays on the state it began with; a reload puts another
// in its place, and the old one lets go of what it has when its last request is done.
type state struct {
	cfg     *conf.Config
	handler http.Handler

	ended chan struct{} // closed when the last request is done and all is closed
	self  *shared[*state]

	log    *shared[*observe.Logger]
	groups map[string]*shared[*group]
	certs  *shared[*certs.Manager] // nil without an https listener
	rates  map[rateName]*limit.Rate
	asked  []*limit.Authority
	door   *door  // nil when every connection is let in as it comes
	roots  string // stands for the files with authorities that certs was made with
}

// hold keeps the state for what outlives the request that it began with, until release is called.
func (s *state) hold() (release func()) {
	s.self.retain() // the request has it still
	return s.self.release
}

// hasEnded reports whether nothing of the state is left.
func (s *state) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end is called once no request is on the state any more, by the last of them, which is not to wait for workers whose
// clients are gone. Gateway.Shutdown waits.
func (s *state) end() {
	go func() {
		defer close(s.ended)
		s.close()
	}()
}

// close lets go of all that the state has, the log last, since the others may have something to say.
func (s *state) close() {
	for _, g := range s.groups {
		g.release()
	}
	for _, authority := range s.asked {
		authority.Close()
	}
	if s.certs != nil {
		s.certs.release()
	}
	if s.log != nil {
		s.log.release()
	}
}
