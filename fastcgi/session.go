package fastcgi

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/yookoala/gofast"
)

// maxPooledParams is the number of params beyond which their list and map are not kept.
const maxPooledParams = 256

// session hands the params of a request to a gofast.Client, through the middleware that there is. They are made as a
// list, whose names are unlike by construction: to gather them in gofast's map, and to take them out of it again, costs
// three times as much as all else that is done to them. So the map is only made when a middleware looks at it.
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

// appendRequest appends everything that r and env say. What gofast.BasicParamsMap guesses from the request is in env.
func appendRequest(list []Param, r *http.Request, env *Env) []Param {
	list = appendEnv(list, env)
	list = appendURI(list, r, env)
	list = appendAddresses(list, env)
	list = append(list,
		Param{"CONTENT_LENGTH", contentLength(r)},
		Param{"CONTENT_TYPE", r.Header.Get("Content-Type")},
		Param{"GATEWAY_INTERFACE", "CGI/1.1"},
		Param{"SERVER_PROTOCOL", r.Proto},
		Param{"REDIRECT_STATUS", "200"}, // PHP refuses to run without it
	)
	return appendHeaders(list, r)
}

// appendEnv names the script in the same resolved folder everywhere: where DOCUMENT_ROOT and SCRIPT_FILENAME, or the
// last parts of SCRIPT_NAME and SCRIPT_FILENAME, differ, Symfony computes a wrong base URL. No PATH_INFO is sent; the
// front controller routes by REQUEST_URI.
func appendEnv(list []Param, env *Env) []Param {
	script := or(env.Script, "/index.php")
	return append(list,
		Param{"DOCUMENT_ROOT", env.Root},
		Param{"SCRIPT_FILENAME", env.Root + script},
		Param{"SCRIPT_NAME", script},
		Param{"DOCUMENT_URI", script},
		Param{"SERVER_SOFTWARE", or(env.Software, "gateway")},
	)
}

// appendURI takes the query from the same bytes. They are not decoded or cleaned: signed URLs are checked against them.
func appendURI(list []Param, r *http.Request, env *Env) []Param {
	uri := env.RequestURI
	if uri == "" {
		uri = r.URL.RequestURI()
	}
	_, query, _ := strings.Cut(uri, "?")
	return append(list,
		Param{"REQUEST_URI", uri},
		Param{"QUERY_STRING", query},
		Param{"REQUEST_METHOD", or(r.Method, http.MethodGet)},
	)
}

// appendAddresses leaves HTTPS out when the scheme is http, since PHP code often only asks whether it is set, and
// REMOTE_HOST always, which would need a look-up.
func appendAddresses(list []Param, env *Env) []Param {
	scheme := or(env.Scheme, "http")
	list = append(list,
		Param{"REQUEST_SCHEME", scheme},
		Param{"SERVER_NAME", env.ServerName},
		Param{"SERVER_PORT", env.ServerPort},
		Param{"REMOTE_ADDR", env.RemoteAddr},
	)
	if scheme == "https" {
		list = append(list, Param{"HTTPS", "on"})
	}
	if env.ServerAddr != "" {
		list = append(list, Param{"SERVER_ADDR", env.ServerAddr})
	}
	if env.RemotePort != "" {
		list = append(list, Param{"REMOTE_PORT", env.RemotePort})
	}
	return list
}

// contentLength promises exactly what will be sent: PHP waits for ever for what is missing. A request without
// a body and without a length of its own has an empty CONTENT_LENGTH, as behind nginx.
func contentLength(r *http.Request) string {
	if r.ContentLength > 0 || len(r.Header["Content-Length"]) > 0 {
		return strconv.FormatInt(r.ContentLength, 10)
	}
	return ""
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
