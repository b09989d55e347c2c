package proxy

import (
	"net/http"

	"gateway/conf"
	"gateway/proxy/certs"
	"gateway/proxy/observe"
)

// state is one configuration, built. A request stays on the state it began with; a reload puts another
// in its place, and the old one lets go of what it has when its last request is done.
type state struct {
	cfg     *conf.Config
	handler http.Handler

	ended chan struct{} // closed when the last request is done
	self  *shared[*state]

	log    *shared[*observe.Logger]
	groups map[string]*shared[*group]
	certs  *shared[*certs.Manager] // nil without an https listener
	door   *door                   // nil when every connection is let in as it comes
}

// hold keeps the state for what outlives the request that it began with, until release is called.
func (s *state) hold() (release func()) {
	s.self.retain() // the request has it still
	return s.self.release
}

// end is called once no request is on the state any more.
func (s *state) end() {
	s.close()
	close(s.ended)
}

// close lets go of all that the state has, the log last, since the others may have something to say.
func (s *state) close() {
	for _, g := range s.groups {
		g.release()
	}
	if s.certs != nil {
		s.certs.release()
	}
	if s.log != nil {
		s.log.release()
	}
}
