package fastcgi

import (
	"sync"

	"github.com/yookoala/gofast"
)

// maxPooledParams is the number of params beyond which their list and map are not kept.
const maxPooledParams = 256

// session hands the params of a request to a gofast.Client, through the middleware that there is. They are made as a
// list, whose names are unlike by construction: to gather them in gofast's map, and to take them out of it again, costs
// more than all else that is done to them. So the map is only made when a middleware looks at it.
type session struct {
	handle gofast.SessionHandler
	mapped bool
	pool   sync.Pool // of *params
}

// params are those of one request, in both forms.
type params struct {
	list []Param
	req  *gofast.Request
}

func newSession(extra []gofast.Middleware) *session {
	s := &session{handle: gofast.BasicSession, mapped: len(extra) > 0}
	if s.mapped {
		s.handle = gofast.Chain(extra...)(s.handle)
	}
	s.pool.New = func() any { return &params{req: gofast.NewRequest(nil)} }
	return s
}

// run makes the params of c and has c.Do called with them.
func (s *session) run(c *call) error {
	p := s.pool.Get().(*params)
	p.list = appendRequest(p.list[:0], c.req, c.env)
	if s.mapped {
		for _, param := range p.list {
			p.req.Params[param.Name] = param.Value
		}
	}
	p.req.Raw, p.req.Stdin = c.req, c.req.Body
	c.params = p
	_, err := s.handle(c, p.req)
	c.params = nil
	if len(p.list) <= maxPooledParams && len(p.req.Params) <= maxPooledParams {
		clear(p.list)
		clear(p.req.Params)
		p.req.Raw, p.req.Stdin = nil, nil
		s.pool.Put(p)
	}
	return err
}

// final returns the list of what is sent: what a middleware has left in req, and the operator's params over everything
// that is there.
func (p *params) final(req *gofast.Request, mapped bool, operator []Param) []Param {
	if mapped {
		p.list = p.list[:0]
		for name, value := range req.Params {
			p.list = append(p.list, Param{name, value})
		}
	}
	for _, own := range operator {
		p.list = setParam(p.list, own)
	}
	return p.list
}

func setParam(list []Param, own Param) []Param {
	for i := range list {
		if list[i].Name == own.Name {
			list[i].Value = own.Value
			return list
		}
	}
	return append(list, own)
}
